import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SYSTEM_TIMERS, type Timers } from '#connector/client/timers.ts';
import { Rig, SECRET } from '#support/connector-rig.ts';
import { answerOverStream } from '#support/lying-over-stream.ts';
import { answers, type Behaviour, LyingServer, type SeenRequest, silent } from '#support/lying-server.ts';

/** An address that takes calls and answers none: far below their deadline of a minute calls are answered elsewhere. */

const FIND = { namespace: 'game', table: 't' };
const INSERT = { ...FIND, rows: [{}] };
const KEYED = { ...INSERT, idempotencyKey: 'once' };
const ROWS = answers('{"rows":[],"hasMore":false}');
const HEALTHY = answers('{"status":"ok","database":true}');
const LOOK_MS = 250;
const QUICK_LOOK_MS = 20;

let near: LyingServer;
let far: LyingServer;
let rig: Rig;
/** Timers of the period of looks, all told. */
let looksBegun = 0;
let lookMs = QUICK_LOOK_MS;

const quickTimers: Timers = {
  ...SYSTEM_TIMERS,
  every(periodMs, run) {
    if (periodMs === LOOK_MS) looksBegun += 1;
    return SYSTEM_TIMERS.every(periodMs === LOOK_MS ? lookMs : periodMs, run);
  },
};

/** Health by one behaviour, everything else by another. */
function serves(api: LyingServer, { health = HEALTHY, calls = ROWS }: { health?: Behaviour; calls?: Behaviour }) {
  api.otherwise = (request, response, server) => {
    const behaviour = request.path === '/v1/health' ? health : calls;
    behaviour(request, response, server);
  };
}

/** Keeps each request until the test lets it be answered. */
function holds(): { readonly behaviour: Behaviour; release(): void } {
  const held: (() => void)[] = [];
  return {
    behaviour: (...request) => void held.push(() => ROWS(...request)),
    release: () => held.splice(0).forEach((answer) => void answer()),
  };
}

const callsAt = (api: LyingServer): SeenRequest[] => api.seen.filter(({ path }) => path !== '/v1/health');
const questionsAt = (api: LyingServer): number => api.seen.length - callsAt(api).length;
const counts = (): number[] => [callsAt(near).length, callsAt(far).length];

async function use(changes: Record<string, unknown> = {}): Promise<void> {
  await rig?.stop();
  rig = new Rig({ url: [near.url, far.url], timeoutMs: 60_000, ...changes }, quickTimers);
  await rig.command('db-reload');
  near.seen.length = 0;
  far.seen.length = 0;
}

/** Begins at the near address, which then hangs. */
async function hang(changes: Record<string, unknown>, calls = silent): Promise<void> {
  serves(near, {});
  await use(changes);
  if (changes.transport !== 'post') {
    await rig.run('find', FIND);
    await expect.poll(async () => (await rig.status()).transport).toBe('stream');
    near.seen.length = 0;
  }
  serves(near, { calls, health: silent });
}

beforeEach(async () => {
  [near, far] = await Promise.all([LyingServer.start(SECRET), LyingServer.start(SECRET)]);
  looksBegun = 0;
  lookMs = QUICK_LOOK_MS;
  for (const api of [near, far]) serves(api, {});
});

afterEach(async () => {
  await rig.stop();
  await Promise.all([near.close(), far.close()]);
});

describe.each(['post', 'auto', 'stream'])('an address that hangs, with transport %s', (transport) => {
  beforeEach(async () => {
    if (transport !== 'post') for (const api of [near, far]) answerOverStream(api);
    await hang({ transport });
  });

  it('is left by calls that may be repeated, and each is sent once to the next', async () => {
    const tickets = [rig.call('find', FIND), rig.call('insert', KEYED), rig.call('delete', FIND)];
    for (const ticket of tickets) expect((await rig.result(ticket)).State).toBe('ok');
    expect(counts()).toEqual([3, 3]);
    expect((await rig.run('insert', INSERT)).State).toBe('ok');
    expect(counts()).toEqual([3, 4]);
    expect(rig.server.lines).toContain(
      `${near.url} is not well (it takes calls and answers none): calls go to ${far.url} now`,
    );
  });

  it('keeps a write without key, whose place others take', async () => {
    const held = holds();
    await hang({ transport, maxConcurrent: 1 }, held.behaviour);
    const write = rig.call('insert', INSERT);
    expect((await rig.run('find', FIND)).State).toBe('ok');
    expect(rig.take(write.Id).State).toBe('pending');
    held.release();
    expect((await rig.result(write)).State).toBe('ok');
    expect(counts()).toEqual([1, 1]);
    for (let call = 0; call < 3; call += 1) expect((await rig.run('find', FIND)).State).toBe('ok');
    expect((await rig.status()).inFlight).toBe(0);
  });

  it('ends a write without key at its deadline, outcome unknown', async () => {
    await hang({ transport, timeoutMs: 2000 });
    expect(await rig.run('insert', INSERT)).toMatchObject({ Code: 'network', Status: 0 });
    expect(counts()).toEqual([1, 0]);
  });
});

describe('an address that answers slowly', () => {
  beforeEach(() => use());

  it('is asked for its health again and again, and not left while that is good', async () => {
    const held = holds();
    serves(near, { calls: held.behaviour });
    const find = rig.call('find', FIND);
    await expect.poll(() => questionsAt(near)).toBeGreaterThan(3);
    held.release();
    expect((await rig.result(find)).State).toBe('ok');
    expect([...counts(), questionsAt(far)]).toEqual([1, 0, 0]);
  });

  it('is not asked while other calls are answered', async () => {
    const held = holds();
    lookMs = LOOK_MS;
    near.script = [held.behaviour];
    const first = rig.call('find', FIND);
    const until = performance.now() + 5 * LOOK_MS;
    while (performance.now() < until) await rig.run('find', FIND);
    held.release();
    expect((await rig.result(first)).State).toBe('ok');
    expect(questionsAt(near)).toBe(0);
    expect(callsAt(far).length).toBe(0);
  });

  it('is left if its database does not answer', async () => {
    serves(near, { calls: silent, health: answers('{"database":false}') });
    expect((await rig.run('find', FIND)).State).toBe('ok');
    expect(counts()).toEqual([1, 1]);
  });
});

describe('the watch', () => {
  it('tries each address once while all hang, and a call ends at its deadline', async () => {
    await use({ timeoutMs: 1500 });
    for (const api of [near, far]) serves(api, { calls: silent, health: silent });
    expect((await rig.run('insert', KEYED)).Code).toBe('network');
    // The second address is left too, and a pause of a retry may follow: never more attempts than without the watch.
    expect(counts()[0]).toBeLessThanOrEqual(3);
    expect(counts()[1]).toBeLessThanOrEqual(3);
    expect(callsAt(far).length).toBeGreaterThan(0);
  });

  it('has one timer for any number of calls, and none for a single address', async () => {
    await use();
    for (let call = 0; call < 50; call += 1) expect((await rig.run('find', FIND)).State).toBe('ok');
    expect(looksBegun).toBeLessThan(10);
    await use({ url: near.url, timeoutMs: 400 });
    looksBegun = 0;
    serves(near, { calls: silent, health: silent });
    expect((await rig.run('insert', INSERT)).Code).toBe('network');
    expect([looksBegun, questionsAt(near)]).toEqual([0, 0]);
  });
});
