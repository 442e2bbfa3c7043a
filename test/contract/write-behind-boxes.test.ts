import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runDeadLetters } from '#sidecar/commands/dead-letters.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import { writeConfig } from '../support/config-folder.ts';
import { spawnSidecar, type TestSidecar } from '../support/sidecar.ts';
import { newDatabase, type TestDatabase } from '../support/test-database.ts';
import { testFolder } from '../support/test-folder.ts';
import { PATIENT } from './data-world.ts';
import { buffered, healthOf, LATER, Scores, sidecarsOfTest } from './write-behind-world.ts';

/** Several boxes buffer one namespace, each with a journal of its own (docs/cluster.md). */

const SOON = { timeout: 30_000, interval: 100 };
/** A stop leaves waiting writes to the next start, as by a kill. */
const LEFT = { ...LATER, drainOnStopMs: 0 };

const start = sidecarsOfTest();
let database: TestDatabase;

beforeEach(async () => {
  database = await newDatabase();
});

afterEach(async () => {
  await database.drop();
});

function startBox(
  writeBehind: object = LATER,
  more: { folder?: string; now?: () => number } = {},
): Promise<TestSidecar> {
  const { folder = testFolder(), ...options } = more;
  return start({ folder, database, ...options, config: { ...PATIENT, ...buffered(['stats'], writeBehind) } });
}

async function listLetters({ configFile }: TestSidecar, action = 'list') {
  const out: string[] = [];
  const io = { print: (line: string) => out.push(line), printError: () => undefined, isForPeople: false };
  expect(await runDeadLetters([action], loadConfig(configFile, {}), io)).toBe(true);
  return { out };
}

const scoresOf = ({ client }: Pick<TestSidecar, 'client'>) => new Scores(client, 'stats');

async function boxes(count: number, writeBehind: object = LATER): Promise<TestSidecar[]> {
  const [first, ...others] = await Promise.all(Array.from({ length: count }, () => startBox(writeBehind)));
  await scoresOf(first as TestSidecar).declare();
  return [first as TestSidecar, ...others];
}

describe('boxes that buffer one namespace', () => {
  it('each apply what they were given, once, while the others do', { timeout: 120_000 }, async () => {
    const all = await boxes(3, { flushIntervalMs: 20 });
    for (const id of [1, 2]) await scoresOf(all[0] as TestSidecar).insert(id, { durability: 'immediate' });
    const answers = await Promise.all(
      Array.from({ length: 90 }, (_, i) => scoresOf(all[i % 3] as TestSidecar).add(1 + (i % 2), 1)),
    );
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    for (const box of all) expect(await scoresOf(box).flush()).toMatchObject({ remaining: 0, halted: false });
    for (const box of all) {
      expect(await scoresOf(box).points()).toEqual([
        [1, 45],
        [2, 45],
      ]);
      expect((await healthOf(box.client)).writeBuffer).toMatchObject({ deadLetters: 0, halted: false });
    }
  });

  it('read what they have queued themselves, and keep its order', async () => {
    const [one, two] = (await boxes(2)) as [TestSidecar, TestSidecar];
    await scoresOf(one).insert(1);
    await scoresOf(one).add(1, 5);
    expect(await scoresOf(one).points()).toEqual([[1, 5]]);
    await scoresOf(two).add(1, 7);
    expect(await scoresOf(one).points()).toEqual([[1, 5]]);
    expect(await scoresOf(two).points()).toEqual([[1, 12]]);
  });

  it('do a key once, whichever of them have it queued', async () => {
    const [one, two] = (await boxes(2)) as [TestSidecar, TestSidecar];
    await scoresOf(one).insert(1, { durability: 'immediate' });
    for (const box of [one, two]) await scoresOf(box).add(1, 10, { idempotencyKey: 'both' });
    await Promise.all([one, two].map((box) => scoresOf(box).flush()));
    expect(await scoresOf(one).points()).toEqual([[1, 10]]);
  });

  it('try a dead letter again once', { timeout: 120_000 }, async () => {
    const [one, two] = (await boxes(2, { flushIntervalMs: 20 })) as [TestSidecar, TestSidecar];
    await scoresOf(one).insert(1);
    await scoresOf(one).insert(1);
    expect(await scoresOf(one).flush()).toMatchObject({ deadLettered: 1, remaining: 0 });
    // A box that starts knows of letters, and looks for wanted ones every second.
    const { folder } = two;
    await two.stop();
    const next = await startBox({ flushIntervalMs: 20 }, { folder });
    const letters = async (box: TestSidecar) => (await healthOf(box.client)).writeBuffer?.deadLetters;
    await vi.waitFor(async () => expect(await Promise.all([one, next].map(letters))).toEqual([1, 1]), SOON);
    await scoresOf(one).call('delete', { filter: { field: 'id', op: 'eq', value: 1 }, durability: 'immediate' });
    await listLetters(one, 'retry');
    await vi.waitFor(async () => expect(await scoresOf(next).points()).toEqual([[1, 0]]), SOON);
    for (const box of [one, next]) expect(await scoresOf(box).flush()).toMatchObject({ deadLettered: 0, remaining: 0 });
    expect(await scoresOf(next).points()).toEqual([[1, 0]]);
    const { out } = await listLetters(one);
    expect(out).toEqual([]);
  });
});

describe('a box that was dead', () => {
  /** A write of box one is applied, and another waits in its journal when it dies. */
  async function deadBox(start = stoppedBox) {
    const folder = testFolder();
    const [one, two] = [await start(folder), await startBox()];
    await scoresOf(one).declare();
    await scoresOf(one).insert(1);
    await scoresOf(one).flush();
    await scoresOf(one).add(1, 5);
    await one.end();
    return { folder, two };
  }
  async function stoppedBox(folder: string) {
    const { client, stop } = await startBox(LEFT, { folder });
    return { client, end: stop };
  }

  async function killedBox(folder: string) {
    const config = writeConfig(folder, { ...PATIENT, ...buffered(['stats'], LEFT) }, database.settings);
    const { client, kill } = await spawnSidecar(folder, {}, {}, config);
    return {
      client,
      end: async () => {
        await kill('SIGKILL');
      },
    };
  }

  const inAnHour = { now: () => Date.now() + 3_600_000 };

  it('applies what it has when it is soon back, once', { timeout: 60_000 }, async () => {
    const { folder, two } = await deadBox(killedBox);
    await scoresOf(two).add(1, 100);
    await scoresOf(two).flush();
    const back = await startBox(LATER, { folder });
    expect(await scoresOf(back).flush()).toMatchObject({ deadLettered: 0, remaining: 0 });
    expect(await scoresOf(two).points()).toEqual([[1, 105]]);
  });

  it('has dead letters of what others have overtaken, if it is back after a minute', async () => {
    const { folder, two } = await deadBox();
    await scoresOf(two).add(1, 100);
    await scoresOf(two).flush();
    const back = await startBox(LATER, { folder, ...inAnHour });
    await vi.waitFor(
      async () => expect((await healthOf(back.client)).writeBuffer).toMatchObject({ pending: 0, deadLetters: 1 }),
      SOON,
    );
    await scoresOf(back).add(1, 1000);
    expect(await scoresOf(back).flush()).toMatchObject({ deadLettered: 0, remaining: 0 });
    expect(await scoresOf(two).points()).toEqual([[1, 1100]]);
  });

  it('applies what it has after any time, if no other has written since', async () => {
    const { folder, two } = await deadBox();
    const back = await startBox(LATER, { folder, ...inAnHour });
    expect(await scoresOf(back).flush()).toMatchObject({ deadLettered: 0, remaining: 0 });
    expect(await scoresOf(two).points()).toEqual([[1, 5]]);
  });
});
