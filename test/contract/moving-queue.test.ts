import { cpSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { openEngine } from '#engine/open.ts';
import type { DeadLetter, QueueRow } from '#engine/queues.ts';
import { runCopy } from '#sidecar/commands/copy.ts';
import { runDeadLetters } from '#sidecar/commands/dead-letters.ts';
import { runQueue } from '#sidecar/commands/queue.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import { NODE_DISK } from '#sidecar/write-behind/journal/disk.ts';
import { makeJournalId } from '#sidecar/write-behind/journal/state-file.ts';
import { unique, writeConfig } from '../support/config-folder.ts';
import { type CopyRun, copyIo } from '../support/copy-io.ts';
import { startSidecar, type TestSidecar } from '../support/sidecar.ts';
import { newDatabase, type TestDatabase } from '../support/test-database.ts';
import { testFolder } from '../support/test-folder.ts';
import { add, insert, item, newQueue } from './queue-world.ts';

/** Journal of a box whose sidecar is stopped. */
const JOURNAL = 'abcdefghij';
const SCHEMA = {
  tables: [
    {
      name: 'kills',
      primaryKey: ['id'],
      columns: [
        { name: 'id', type: 'int64' },
        { name: 'amount', type: 'int32' },
      ],
    },
  ],
};
const bounds = () => ({ deadline: performance.now() + 20_000 });

let source: TestSidecar;
let from: Engine;
const databases: TestDatabase[] = [];

beforeAll(async () => {
  source = await startSidecar();
  from = await engineOf(source.configFile);
});

afterAll(async () => {
  await from.close();
  await source.stop();
  for (const database of databases) await database.drop();
});

function engineOf(configFile: string): Promise<Engine> {
  const { database } = loadConfig(configFile, {});
  return openEngine({ ...database, poolSize: 2 }, { log: () => {}, now: Date.now });
}

async function emptyTarget(): Promise<TestDatabase> {
  const database = await newDatabase();
  databases.push(database);
  return database;
}

function configOf({ settings }: TestDatabase): string {
  const folder = testFolder();
  return writeConfig(folder, {}, settings);
}

async function copy(namespace: string, to: string, ...more: string[]): Promise<CopyRun> {
  const run = copyIo();
  const isDone = await runCopy(['--from', source.configFile, '--to', to, '--namespace', namespace, ...more], run.io);
  return { ...run, isDone };
}

async function inTarget<T>(configFile: string, work: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = await engineOf(configFile);
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}

const queueIn = (configFile: string, namespace: string) =>
  inTarget(configFile, async ({ queues }) => ({
    row: await queues.readQueue(namespace, JOURNAL, bounds()),
    letters: await queues.listLetters(namespace, bounds()),
  }));

function letterOf(namespace: string, changes: Partial<DeadLetter> = {}): DeadLetter {
  return {
    id: `${JOURNAL}-${unique('4')}`,
    namespace,
    kid: 'local',
    op: 'insert',
    payload: '{"table":"kills","rows":[{"id":9007199254740993}]}',
    code: 'constraint_violation',
    message: 'no',
    time: 1_790_000_000_123,
    isRetryWanted: false,
    ...changes,
  };
}

/** A namespace with two rows, two dead letters, and a queue that is applied up to position 500. */
async function queuedNamespace() {
  const namespace = unique('moved');
  await source.client.must('schema.sync', { namespace, schema: SCHEMA });
  await source.client.must('insert', {
    namespace,
    table: 'kills',
    rows: [
      { id: 1, amount: 1 },
      { id: 2, amount: 2 },
    ],
  });
  const row: QueueRow = {
    namespace,
    journal: JOURNAL,
    token: 3,
    position: 500,
    past: [{ token: 1, position: 44 }],
  };
  await from.transfer.writeQueue(row, bounds());
  const letters = [letterOf(namespace), letterOf(namespace, { time: 1_790_000_000_124, isRetryWanted: true })];
  await from.queues.addLetters(letters, bounds());
  return { namespace, row, letters };
}

describe('the queue of a namespace that is copied', () => {
  it('comes along with its dead letters, and an equal comparison says so', async () => {
    const { namespace, row, letters } = await queuedNamespace();
    const target = configOf(await emptyTarget());
    const { isDone, lines } = await copy(namespace, target);
    expect(isDone).toBe(true);
    expect(await queueIn(target, namespace)).toEqual({ row, letters });
    expect(lines).toContain(`${namespace}: 2 dead letters came along`);
    expect(lines).toContain(
      `${namespace}: its queue comes along, applied up to position 500; journal ${JOURNAL} goes on there`,
    );
    expect((await copy(namespace, target, '--compare')).isDone).toBe(true);
  });

  it('is not equal any more when it has gone on', async () => {
    const { namespace, row, letters } = await queuedNamespace();
    const target = configOf(await emptyTarget());
    await copy(namespace, target);
    await from.transfer.writeQueue({ ...row, position: 501 }, bounds());
    await from.queues.discardLetter((letters[0] as DeadLetter).id, bounds());
    const { isDone, lines } = await copy(namespace, target, '--compare');
    expect(isDone).toBe(false);
    expect(lines.filter((line) => line.includes('NOT equal'))).toEqual([
      `${namespace}: NOT equal, its queue is at position 501 in the source and 500 in the target`,
      `${namespace}: NOT equal, 1 dead letter in the source, 2 dead letters in the target`,
    ]);
  });

  it('is replaced together with the rows, and other journals of the target are fenced', async () => {
    const { namespace, row, letters } = await queuedNamespace();
    const target = configOf(await emptyTarget());
    const own = { ...row, journal: 'bbbbbbbbbb', token: 7, position: 70, past: [] };
    await inTarget(target, async ({ queues, transfer }) => {
      await transfer.writeQueue(own, bounds());
      await queues.addLetters([letterOf(namespace, { id: 'bbbbbbbbbb-69' })], bounds());
    });
    await expect(copy(namespace, target)).rejects.toThrow('is not empty (1 dead letter); nothing was changed');
    const { isDone, lines } = await copy(namespace, target, '--replace');
    expect(isDone).toBe(true);
    expect(await queueIn(target, namespace)).toEqual({ row, letters });
    const other = await inTarget(target, ({ queues }) => queues.readQueue(namespace, own.journal, bounds()));
    expect(other).toEqual({ ...own, token: 8, position: 0, past: [{ token: 7, position: 70 }] });
    expect(lines.join('\n')).toContain('journal bbbbbbbbbb of the target has other rows now');
  });

  it('leaves nothing behind that a retry would do a second time', async () => {
    const { namespace, letters } = await queuedNamespace();
    const target = configOf(await emptyTarget());
    const ended = copyIo();
    ended.onBegin((label) => label.startsWith('compares') && ended.ending.abort(new Error('ended by the test')));
    const args = ['--from', source.configFile, '--to', target, '--namespace', namespace];
    await expect(runCopy(args, ended.io)).rejects.toThrow('ended by the test');
    // As a run that was cut off later would have left it.
    await inTarget(target, ({ queues }) => queues.addLetters(letters, bounds()));
    await from.queues.discardLetter((letters[0] as DeadLetter).id, bounds());
    expect((await copy(namespace, target)).isDone).toBe(true);
    expect((await queueIn(target, namespace)).letters).toEqual(letters.slice(1));
  });
});

describe('a sidecar that is running with the journal of the source', () => {
  it('is warned of, as it goes on to apply to the source', async () => {
    const { namespace } = await queuedNamespace();
    const { writeBehind } = loadConfig(source.configFile, {});
    await makeJournalId(writeBehind.journal);
    const lock = await NODE_DISK.lock(writeBehind.journal);
    const running = await copy(namespace, configOf(await emptyTarget()));
    expect(running).toMatchObject({ isDone: true, errors: [expect.stringContaining('warning: a sidecar is running')] });
    lock?.release();
    expect(await copy(namespace, configOf(await emptyTarget()))).toMatchObject({ isDone: true, errors: [] });
  });
});

describe('a write that was cut off in its middle', () => {
  it('is not copied where only its rows know of it', async () => {
    const queue = await newQueue(from, JOURNAL);
    const items = await queue.target('items');
    await queue.apply([queue.entry(items, insert(item(1))), queue.entry(items, add(items, 1, 5))]);
    const row = (await queue.row()) as QueueRow;
    // As a crash leaves it before the position moves.
    await from.transfer.writeQueue({ ...row, position: 1 }, bounds());
    const target = configOf(await emptyTarget());
    const copying = copy(queue.namespace, target);
    if (from.capabilities.transactions) expect((await copying).isDone).toBe(true);
    else await expect(copying).rejects.toThrow(`start the sidecar with journal ${JOURNAL} on the source`);
    await from.transfer.writeQueue(row, bounds());
    expect((await copy(queue.namespace, target, '--replace')).isDone).toBe(true);
  });
});

describe('a copy that is given up', () => {
  it('takes the dead letters away again that it had brought', async () => {
    const { namespace, letters } = await queuedNamespace();
    const target = configOf(await emptyTarget());
    const ended = copyIo();
    ended.onBegin((label) => label.startsWith('compares') && ended.ending.abort(new Error('ended by the test')));
    const args = ['--from', source.configFile, '--to', target, '--namespace', namespace];
    await expect(runCopy(args, ended.io)).rejects.toThrow('ended by the test');
    await inTarget(target, ({ queues }) => queues.addLetters(letters, bounds()));
    await runCopy(['--to', target, '--namespace', namespace, '--discard'], copyIo().io);
    expect((await queueIn(target, namespace)).letters).toEqual([]);
  });
});

describe('writes that wait in the journal', () => {
  /** A box that applies nothing before it is asked, and leaves the rest to its next start. */
  async function newBox(changes: object = {}) {
    const namespace = unique('moved');
    const folder = testFolder();
    const writeBehind = {
      ...{ journal: 'journal', drainOnStopMs: 0, flushIntervalMs: 3_600_000, flushAtPending: 100_000 },
      namespaces: { [namespace]: {} },
      ...changes,
    };
    const start = (database: TestDatabase, now: object = {}) =>
      startSidecar({ folder, database, config: { writeBehind: { ...writeBehind, ...now } } });
    return { namespace, start, journal: join(folder, 'journal'), config: join(folder, 'sidecar.json') };
  }

  const callsOf = ({ client }: TestSidecar, namespace: string) => ({
    insert: (id: number) => client.must('insert', { namespace, table: 'kills', rows: [{ id, amount: 0 }] }),
    inc: (id: number) =>
      client.must('update', {
        namespace,
        table: 'kills',
        filter: { field: 'id', op: 'eq', value: id },
        inc: { amount: 1 },
      }),
    flush: () => client.must('flush', { namespace }),
    rows: async () => (await client.must('find', { namespace, table: 'kills' })).rows,
  });

  it('are applied once, before the move or after it', async () => {
    const { namespace, start, config } = await newBox();
    const [old, next] = [await emptyTarget(), await emptyTarget()];
    const before = await start(old);
    const first = callsOf(before, namespace);
    await before.client.must('schema.sync', { namespace, schema: SCHEMA });
    await first.insert(1);
    await first.inc(1);
    expect(await first.flush()).toMatchObject({ flushed: 2, remaining: 0 });
    for (let i = 0; i < 5; i += 1) await first.inc(1);
    expect(await first.insert(2)).toMatchObject({ queued: true, pending: 6 });
    await before.stop();

    expect(await runCopy(['--from', config, '--to', configOf(next), '--namespace', namespace], copyIo().io)).toBe(true);
    const after = await start(next);
    const second = callsOf(after, namespace);
    // Applied by now or by this: a start begins with what it finds.
    expect(await second.flush()).toMatchObject({ deadLettered: 0, remaining: 0 });
    const moved = [
      { id: 1, amount: 6 },
      { id: 2, amount: 0 },
    ];
    expect(await second.rows()).toEqual(moved);
    await second.inc(2);
    expect(await second.rows()).toEqual([moved[0], { id: 2, amount: 1 }]);
    await after.stop();
  });

  it('wait where the database is another one, until they are told to go there', async () => {
    const { namespace, start, config } = await newBox();
    const [right, wrong] = [await emptyTarget(), await emptyTarget()];
    const before = await start(right);
    await before.client.must('schema.sync', { namespace, schema: SCHEMA });
    await callsOf(before, namespace).insert(1);
    await before.stop();

    const mistaken = await start(wrong);
    expect(JSON.stringify(mistaken.log)).toContain('the database has never had the queue of the namespace');
    const sync = () => mistaken.client.call('schema.sync', { namespace, schema: SCHEMA });
    expect(await sync()).toMatchObject({ status: 503, code: 'write_buffer_halted' });
    expect((await mistaken.client.must<{ writeBuffer: object }>('health')).writeBuffer).toMatchObject({ pending: 1 });
    await mistaken.stop();

    const fixed = await start(right);
    expect(await callsOf(fixed, namespace).rows()).toEqual([{ id: 1, amount: 0 }]);
    await callsOf(fixed, namespace).insert(2);
    await fixed.stop();

    const meant = await start(wrong, { flushIntervalMs: 50 });
    const run = { print: () => undefined, printError: () => undefined, isForPeople: false };
    const settings = loadConfig(config, {});
    expect(await runQueue(['adopt', namespace], settings, run)).toBe(true);
    const there = callsOf(meant, namespace);
    const synced = () => meant.client.must('schema.sync', { namespace, schema: SCHEMA });
    await vi.waitFor(synced, { timeout: 20_000, interval: 200 });
    await runDeadLetters(['retry'], settings, run);
    await vi.waitFor(async () => expect(await there.rows()).toEqual([{ id: 2, amount: 0 }]), {
      timeout: 30_000,
      interval: 200,
    });
    await meant.stop();
  });

  it('wait while the namespace is read, and none is given up for that', async () => {
    const { namespace, start, config } = await newBox({ flushIntervalMs: 20, haltAfterFailures: 2 });
    const running = await start(await emptyTarget());
    const calls = callsOf(running, namespace);
    await running.client.must('schema.sync', { namespace, schema: SCHEMA });
    for (let id = 0; id < 20; id += 1) await calls.insert(id);
    const answers: Promise<{ status: number; code: string }>[] = [];
    const run = copyIo();
    run.onBegin(() => {
      const rows = [{ id: 100 + answers.length, amount: 0 }];
      answers.push(running.client.call('insert', { namespace, table: 'kills', rows }));
    });
    const target = configOf(await emptyTarget());
    expect(await runCopy(['--from', config, '--to', target, '--namespace', namespace], run.io)).toBe(true);
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.length).toBeGreaterThan(1);
    // Acknowledged, or refused as long as it is read; nothing else.
    expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([]);
    await vi.waitFor(async () => expect(await calls.flush()).toMatchObject({ deadLettered: 0, remaining: 0 }), {
      timeout: 20_000,
      interval: 100,
    });
    const acknowledged = statuses.flatMap((status, i) => (status === 200 ? [100 + i] : []));
    const ids = ((await calls.rows()) as { id: number }[]).map(({ id }) => id);
    expect(ids).toEqual([...Array.from({ length: 20 }, (_, id) => id), ...acknowledged]);
    expect((await running.client.must<{ writeBuffer: object }>('health')).writeBuffer).toMatchObject({
      deadLetters: 0,
    });
    await running.stop();
  });

  it('are not applied to the copy again where only the source knows that they were', async () => {
    const { namespace, start, journal, config } = await newBox();
    const [old, next] = [await emptyTarget(), await emptyTarget()];
    const before = await start(old);
    const first = callsOf(before, namespace);
    await before.client.must('schema.sync', { namespace, schema: SCHEMA });
    await first.insert(1);
    for (let i = 0; i < 3; i += 1) await first.inc(1);
    // As a box that dies between the commit and its own note of it leaves it.
    cpSync(journal, `${journal}.died`, { recursive: true });
    expect(await first.flush()).toMatchObject({ flushed: 4 });
    await before.stop();
    rmSync(journal, { recursive: true });
    renameSync(`${journal}.died`, journal);

    expect(await runCopy(['--from', config, '--to', configOf(next), '--namespace', namespace], copyIo().io)).toBe(true);
    const after = await start(next);
    const second = callsOf(after, namespace);
    await second.inc(1);
    expect(await second.flush()).toMatchObject({ deadLettered: 0, remaining: 0 });
    expect(await second.rows()).toEqual([{ id: 1, amount: 4 }]);
    expect((await after.client.must<{ writeBuffer: object }>('health')).writeBuffer).toMatchObject({ deadLetters: 0 });
    await after.stop();
  });
});
