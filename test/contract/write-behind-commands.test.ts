import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CommandIo } from '#sidecar/commands/command-process.ts';
import { runDeadLetters } from '#sidecar/commands/dead-letters.ts';
import type { runQueue } from '#sidecar/commands/queue.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import type { TestSidecar } from '../support/sidecar.ts';
import { newDatabase, type TestDatabase } from '../support/test-database.ts';
import { testFolder } from '../support/test-folder.ts';
import { PATIENT } from './data-world.ts';
import { buffered, healthOf, Scores, sidecarsOfTest } from './write-behind-world.ts';

/** The command line beside sidecars that run (contract section 7). */

const SOON = { timeout: 60_000, interval: 50 };
const QUICK = { flushIntervalMs: 50 };

const start = sidecarsOfTest();
let database: TestDatabase;

beforeEach(async () => {
  database = await newDatabase();
});

afterEach(async () => {
  await database.drop();
});

/** A box of its own, with a journal of its own, on the database of the test. */
function startBox(writeBehind: object): Promise<TestSidecar> {
  const folder = testFolder();
  return start({ folder, database, config: { ...PATIENT, ...buffered(['stats'], writeBehind) } });
}

async function run(command: typeof runQueue, sidecar: TestSidecar, ...args: string[]) {
  const out: string[] = [];
  const errors: string[] = [];
  const io: CommandIo = {
    print: (line) => out.push(line),
    printError: (line) => errors.push(line),
    isForPeople: false,
  };
  const isDone = await command(args, loadConfig(sidecar.configFile, {}), io);
  return { isDone, out, errors };
}

interface Letter {
  readonly id: string;
  readonly payload: Record<string, unknown>;
  readonly code: string;
  readonly time: string;
}

async function lettersOf(sidecar: TestSidecar): Promise<Letter[]> {
  const { out } = await run(runDeadLetters, sidecar, 'list');
  return out.map((line) => JSON.parse(line) as Letter);
}

/** Row 1, and a dead letter that wanted to be row 1 as well. */
async function refused(sidecar: TestSidecar) {
  const scores = new Scores(sidecar.client, 'stats');
  await scores.declare();
  await scores.insert(1);
  const { result } = await scores.call('insert', { rows: [{ id: 1, points: 7 }] });
  expect(await scores.flush()).toMatchObject({ flushed: 1, deadLettered: 1, remaining: 0 });
  return { scores, id: String(result.id) };
}

describe('a dead letter of a sidecar that runs', () => {
  it('is listed under the id of its acknowledgement, with the payload as it was sent', async () => {
    const sidecar = await startBox(QUICK);
    const { id } = await refused(sidecar);
    expect(await lettersOf(sidecar)).toEqual([
      {
        id,
        namespace: 'stats',
        op: 'insert',
        payload: { namespace: 'stats', table: 'scores', rows: [{ id: 1, points: 7 }] },
        code: 'constraint_violation',
        message: expect.any(String),
        time: expect.stringMatching(/^20.*Z$/),
      },
    ]);
  });

  it('is done once the reason is gone, and goes then', async () => {
    const sidecar = await startBox(QUICK);
    const { scores } = await refused(sidecar);
    await scores.call('delete', { filter: { field: 'id', op: 'eq', value: 1 }, durability: 'immediate' });
    expect((await run(runDeadLetters, sidecar, 'retry')).isDone).toBe(true);
    await vi.waitFor(async () => expect(await lettersOf(sidecar)).toEqual([]), SOON);
    expect(await scores.points()).toEqual([[1, 7]]);
    await vi.waitFor(
      async () => expect((await healthOf(sidecar.client)).writeBuffer).toMatchObject({ deadLetters: 0, pending: 0 }),
      SOON,
    );
  });

  it('stays under its id where the retry fails again, and can be discarded', async () => {
    const sidecar = await startBox(QUICK);
    const { scores, id } = await refused(sidecar);
    const [before] = await lettersOf(sidecar);
    await run(runDeadLetters, sidecar, 'retry', id);
    await vi.waitFor(async () => {
      await scores.flush();
      expect(await isWanted(sidecar)).toBe(false);
    }, SOON);
    expect(await lettersOf(sidecar)).toEqual([before]);
    expect((await run(runDeadLetters, sidecar, 'discard', id)).isDone).toBe(true);
    expect(await lettersOf(sidecar)).toEqual([]);
    expect(await scores.points()).toEqual([[1, 0]]);
  });
});

/** As people see it. */
async function isWanted(sidecar: TestSidecar): Promise<boolean> {
  const out: string[] = [];
  const io: CommandIo = { print: (line) => out.push(line), printError: () => {}, isForPeople: true };
  await runDeadLetters(['list'], loadConfig(sidecar.configFile, {}), io);
  return out.join().includes('is to be tried again');
}
