import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openEngine } from '#engine/open.ts';
import { writeJournalNote } from '#sidecar/cluster/journal-notes.ts';
import { runBackup } from '#sidecar/commands/backup.ts';
import { runDeadLetters } from '#sidecar/commands/dead-letters.ts';
import { runQueue } from '#sidecar/commands/queue.ts';
import { runRestore } from '#sidecar/commands/restore.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import { writeConfig } from '../support/config-folder.ts';
import { copyIo } from '../support/copy-io.ts';
import type { TestSidecar } from '../support/sidecar.ts';
import { spawnSidecar } from '../support/sidecar-process.ts';
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

describe('a backup of one box', () => {
  async function backup({ configFile }: TestSidecar) {
    const run = copyIo();
    expect(await runBackup(['--config', configFile, '--json'], run.io)).toBe(true);
    const { path, rows } = JSON.parse(run.lines.join('')) as { path: string; rows: number };
    const { notHeld = [] } = JSON.parse(readFileSync(join(path, 'manifest.json'), 'utf8')) as { notHeld?: object[] };
    // A busy machine has lines of its own.
    return { path, rows, notHeld, errors: run.errors.filter((line) => line.startsWith('warning: ')) };
  }
  async function queue({ configFile }: TestSidecar, ...args: string[]) {
    const out: string[] = [];
    const io = { print: (line: string) => out.push(line), printError: (line: string) => out.push(line) };
    const isDone = await runQueue(args, loadConfig(configFile, {}), { ...io, isForPeople: false });
    return { isDone, out };
  }

  it('has what was queued on the others before it', { timeout: 60_000 }, async () => {
    const [one, two, three] = (await boxes(3)) as [TestSidecar, TestSidecar, TestSidecar];
    await scoresOf(two).insert(1);
    await scoresOf(three).insert(2);
    expect(await backup(one)).toMatchObject({ rows: 2, notHeld: [], errors: [] });
  });

  it('names what it lacks of a box that has stopped, until that is said to be gone', { timeout: 60_000 }, async () => {
    const one = await startBox(LEFT);
    const folder = testFolder();
    const two = await startBox(LEFT, { folder });
    await scoresOf(one).declare();
    await scoresOf(two).insert(1);
    const running = (await queue(one, 'list')).out.map((line) => JSON.parse(line)).find(({ isOwn }) => !isOwn);
    expect(running).toMatchObject({ box: hostname(), state: 'seen' });
    const refused = `the sidecar of ${hostname()} runs with the journal ${running.journal}: it is not gone`;
    expect(await queue(one, 'forget', running.journal)).toEqual({ isDone: false, out: [refused] });
    await scoresOf(two).insert(2);
    await two.stop();
    const { journal } = running;
    const lacking = await backup(one);
    expect(lacking).toMatchObject({ rows: 1, notHeld: [{ journal, box: hostname(), waiting: 1 }] });
    const place = `in the journal ${journal} of ${hostname()}`;
    expect(lacking.errors).toEqual([`warning: 1 queued writes ${place} are not in the backup`]);
    const restored = copyIo();
    const target = writeConfig(testFolder(), {});
    await runRestore([lacking.path, '--config', target], restored.io);
    expect(restored.lines.join('\n')).toContain(`warning: the backup lacks 1 queued writes ${place}; they become`);
    expect(await queue(one, 'forget', journal)).toMatchObject({ isDone: true });
    expect(await backup(one)).toMatchObject({ notHeld: [], errors: [] });
    const back = await startBox(LATER, { folder });
    expect(await scoresOf(back).flush()).toMatchObject({ remaining: 0, deadLettered: 0 });
  });

  it('says of a box that has not ended in order that it may lack something', async () => {
    const one = await startBox();
    await scoresOf(one).declare();
    const engine = await openEngine(loadConfig(one.configFile, {}).database, { log: () => {}, now: Date.now });
    const bounds = { deadline: performance.now() + 20_000 };
    const note = { instance: 'gone', box: 'game-3', isRunning: true, waiting: 0, request: '', isForgotten: false };
    await engine.queues.claimQueue('stats', 'abcdefghij', bounds);
    await writeJournalNote(engine, 'abcdefghij', note, bounds);
    await engine.close();
    const { notHeld, errors } = await backup(one);
    expect(notHeld).toEqual([{ journal: 'abcdefghij', box: 'game-3', waiting: null }]);
    expect(errors).toEqual([
      expect.stringMatching(/^warning: queued writes that may wait in .* queue forget abcdefghij/),
    ]);
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
