import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BroadcastChannel } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SYSTEM_TIMERS, type Timers } from '#connector/client/timers.ts';
import { type DbResult, impatientTimers, Rig, SECRET, type Ticket, workerFolder } from '#support/connector-rig.ts';
import { answers, LyingServer, silent } from '#support/lying-server.ts';
import { testFolder } from '#support/test-folder.ts';

const FIND = { namespace: 'game', table: 't' };
const WRITE = { ...FIND, rows: [{}] };
/** Lets a test reach into the worker: end it, block it, look at what it can see. */
const BACK_DOOR = `
const channel = new (require('node:worker_threads').BroadcastChannel)('worker-test');
const looks = [];
const posted = { lists: 0, wakes: 0 };
const { prototype } = require('node:worker_threads').MessagePort;
const { postMessage: post } = prototype;
prototype.postMessage = function (message) {
  if (Array.isArray(message)) posted.lists += 1;
  if (message.kind === 'ended') posted.wakes += 1;
  return post.call(this, message);
};
channel.onmessage = ({ data }) => {
  if (data === 'exit') process.exit(7);
  if (data === 'throw') setImmediate(() => { throw new Error('no more'); });
  if (data === 'block') for (;;);
  if (data === 'count') channel.postMessage(posted);
  if (data === 'look at unread') for (const look of looks.splice(0)) look();
  const { env, argv, execArgv } = process;
  if (data === 'look') channel.postMessage({ env, argv, execArgv, data: require('node:worker_threads').workerData });
};
`;
/** After the back door: the test says when the worker looks at lists that no script has read. */
const HELD_LOOKS = `
const { setTimeout: after } = globalThis;
globalThis.setTimeout = (run, ms, ...args) => (ms === 30 ? looks.push(() => run(...args)) : after(run, ms, ...args));
`;
let api: LyingServer;
let rig: Rig;
let backDoor: BroadcastChannel;
let isStarted = false;

beforeEach(async () => {
  isStarted = false;
  api = await LyingServer.start(SECRET);
  backDoor = new BroadcastChannel('worker-test');
});

afterEach(async () => {
  backDoor.close();
  await rig.stop();
  await api.close();
});

const worker = async () => (await rig.status()).worker;

/** A worker with a back door, in which a first call has been made. */
async function start(database: Record<string, unknown> = {}, timers?: Timers, more = ''): Promise<void> {
  const bundle = join(testFolder(), 'bundle');
  mkdirSync(bundle);
  writeFileSync(
    join(bundle, 'worker.js'),
    `${readFileSync(join(workerFolder(), 'worker.js'), 'utf8')}${BACK_DOOR}${more}`,
  );
  rig = new Rig({ url: api.url, transport: 'post', ...database }, timers, SECRET, bundle);
  expect((await rig.run('find', FIND)).State).toBe('ok');
  api.seen.length = 0;
  isStarted = true;
}

/** Timers that look at the worker ten times as often from the end of `start` to its death, so that silence is noticed soon. */
function quickLooks(): Timers {
  return {
    ...impatientTimers(),
    every(periodMs, run) {
      const often = () =>
        isStarted && !rig.server.lines.some((line) => line.startsWith("the connector's worker")) && run();
      return periodMs === 1000 ? SYSTEM_TIMERS.every(100, often) : SYSTEM_TIMERS.every(periodMs, run);
    },
  };
}

/** Lists of ends, and reports that wake the script, which the worker has sent so far. */
function posted(): Promise<{ lists: number; wakes: number }> {
  const told = new Promise<unknown>((resolve) => {
    backDoor.onmessage = (event) => resolve((event as unknown as { data: unknown }).data);
  });
  backDoor.postMessage('count');
  return told as ReturnType<typeof posted>;
}

async function resultsOf(tickets: readonly Ticket[]): Promise<DbResult[]> {
  return Promise.all(tickets.map((ticket) => rig.result(ticket)));
}

describe('the worker', () => {
  it('makes the calls where the bundle holds its program, and is named', async () => {
    await start();
    expect(await worker()).toBe('running');
    expect((await rig.command('db-status')).find((line) => line.startsWith('worker'))).toMatch(/running/);
    expect((await rig.command('db-health')).join('\n')).toContain('over POST, by the worker');
  });

  it('is not started with worker off', async () => {
    rig = new Rig({ url: api.url, worker: 'off' }, SYSTEM_TIMERS, SECRET, workerFolder());
    expect((await rig.run('find', FIND)).State).toBe('ok');
    expect(await worker()).toBe('off');
  });

  it('sees the secret in no environment, argument or data', async () => {
    process.env.DB_CONNECTOR_SECRET = SECRET;
    try {
      await start();
      const told = new Promise<unknown>((resolve) => {
        backDoor.onmessage = (event) => resolve((event as unknown as { data: unknown }).data);
      });
      backDoor.postMessage('look');
      expect(await told).toEqual({ env: {}, argv: expect.any(Array), execArgv: [], data: undefined });
      expect(JSON.stringify(await told)).not.toContain(SECRET);
    } finally {
      delete process.env.DB_CONNECTOR_SECRET;
    }
  });

  it('wakes a script for a list that it has not read for a while, and not for a list that has just come', async () => {
    await start({}, undefined, HELD_LOOKS);
    const { lists, wakes } = await posted();
    rig.call('find', FIND);
    await expect.poll(async () => (await posted()).lists).toBe(lists + 1);
    // The wait for a reader of this look began with the list of the first call, which was read.
    backDoor.postMessage('look at unread');
    expect((await posted()).wakes).toBe(wakes);
    backDoor.postMessage('look at unread');
    expect((await posted()).wakes).toBe(wakes + 1);
  });

  it('ends with the connector', async () => {
    await start();
    api.otherwise = silent;
    rig.call('find', FIND);
    await api.untilSeen(1);
    await rig.stop();
    await expect.poll(() => api.openSockets).toBe(0);
  });

  it('serves the calls of a bundle in order, and bundles in turn', async () => {
    await start({ maxConcurrent: 1 });
    const call = (table: string, caller: string) =>
      rig.call('count', JSON.stringify({ namespace: 'game', table }), caller);
    for (const table of ['a1', 'a2', 'a3']) call(table, 'a');
    for (const table of ['b1', 'b2']) call(table, 'b');
    call('c1', 'c');
    await api.untilSeen(6);
    const tables = api.seen.map(({ envelope }) => JSON.parse(String(envelope.payload)).table);
    expect(tables).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  });

  it('leaves the bound of results that are not collected as it is', async () => {
    await start({ maxAnswerBytes: 16_777_216 });
    api.otherwise = answers(JSON.stringify({ rows: ['x'.repeat(5_000_000)] }));
    const results = new Set<string>();
    for (let count = 0; count < 7; count += 1) {
      results.add(rig.call('find', FIND).Id);
      await api.untilSeen(count + 1);
    }
    await expect.poll(() => rig.call('find', FIND).Error, { interval: 50 }).toMatch(/^busy: .* of results wait/);
    expect(results.has('')).toBe(false);
  });
});

describe.each([
  ['exit', impatientTimers],
  ['throw', impatientTimers],
  ['block', quickLooks],
] as const)('a worker that dies: %s', (how, timers) => {
  it('ends writes that may be done with network, repeats reads, and is started again', async () => {
    await start({}, timers());
    api.otherwise = silent;
    const writes = Array.from({ length: 8 }, () => rig.call('insert', WRITE));
    const reads = Array.from({ length: 8 }, () => rig.call('count', FIND));
    await api.untilSeen(16);
    api.otherwise = answers('{"count":1}');
    backDoor.postMessage(how);
    for (const result of await resultsOf(writes)) {
      expect(result).toMatchObject({ State: 'error', Status: 0, Code: 'network' });
      expect(result.Json).toContain('worker has ended');
    }
    for (const result of await resultsOf(reads)) expect(result).toMatchObject({ State: 'ok', Json: '{"count":1}' });
    // Each result once.
    expect([...writes, ...reads].map(({ Id }) => rig.take(Id).State)).toEqual(Array(16).fill('missing'));
    expect((await rig.status()).circuit).toBe('closed');
    expect(rig.server.lines.filter((line) => line.startsWith("the connector's worker has ended"))).toEqual([
      expect.stringContaining('started again in 1 s'),
    ]);
    await expect.poll(worker).toBe('running');
    expect((await rig.run('find', FIND)).State).toBe('ok');
  });
});

describe('a worker that keeps dying', () => {
  it('is started again with longer pauses, and calls go on without it', async () => {
    const pauses = impatientTimers();
    const bundle = testFolder();
    writeFileSync(join(bundle, 'worker.js'), "throw new Error('broken');");
    rig = new Rig({ url: api.url }, pauses, SECRET, bundle);
    const seconds = () => pauses.pauses.filter((ms) => ms >= 1000 && ms % 1000 === 0);
    await expect.poll(seconds).toEqual(expect.arrayContaining([1000, 2000, 4000, 8000, 16_000, 30_000]));
    api.otherwise = answers('{"count":1}');
    expect((await rig.run('count', FIND)).State).toBe('ok');
  });
});
