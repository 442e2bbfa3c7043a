import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SYSTEM_TIMERS, type Timers } from '#connector/client/timers.ts';
import { Rig, SECRET } from '#support/connector-rig.ts';
import { answerOverStream } from '#support/lying-over-stream.ts';
import {
  answers,
  authenticates,
  type Behaviour,
  halfAnswer,
  LyingServer,
  resets,
  type SeenRequest,
  says,
  unsigned,
  wrongSignature,
} from '#support/lying-server.ts';

const FIND = { namespace: 'game', table: 't' };
const INSERT = { ...FIND, rows: [{}] };
const KEYED = { ...INSERT, idempotencyKey: 'once' };
const HEALTHY = '{"status":"ok","database":true}';
const RETURN_MS = 30_000;

let near: LyingServer;
let far: LyingServer;
let rig: Rig;
/** Beside the real time. */
let aheadMs = 0;

/** Looks every 20 ms, pauses that are over at once, and a clock that a test sets ahead. */
function quickTimers(): Timers {
  return {
    ...SYSTEM_TIMERS,
    elapsed: () => SYSTEM_TIMERS.elapsed() + aheadMs,
    after: (_delayMs, run) => SYSTEM_TIMERS.after(1, run),
    every: (periodMs, run) => SYSTEM_TIMERS.every(periodMs === 2000 ? 20 : periodMs, run),
  };
}

/** Health by one behaviour, everything else by another. */
function serves(api: LyingServer, { health = answers(HEALTHY), calls }: { health?: Behaviour; calls?: Behaviour }) {
  const truth = answers('{"rows":[],"hasMore":false}');
  api.otherwise = (request, response, server) => {
    const behaviour = request.path === '/v1/health' ? health : (calls ?? truth);
    behaviour(request, response, server);
  };
}

const refuses = (status: number, code: string): Behaviour =>
  answers(JSON.stringify({ error: { code, message: 'no' } }), status);

function callsAt(api: LyingServer): SeenRequest[] {
  return api.seen.filter(({ path }) => path !== '/v1/health');
}

async function currentUrl(): Promise<unknown> {
  return (await rig.status()).url;
}

beforeEach(async () => {
  aheadMs = 0;
  [near, far] = await Promise.all([LyingServer.start(SECRET), LyingServer.start(SECRET)]);
  serves(near, {});
  serves(far, {});
  rig = new Rig({ url: [near.url, far.url], timeoutMs: 500 }, quickTimers());
  await rig.command('db-reload');
  near.seen.length = 0;
  far.seen.length = 0;
});

afterEach(async () => {
  await rig.stop();
  await Promise.all([near.close(), far.close()]);
});

describe('a list of addresses', () => {
  it('is called at the first while that is well', async () => {
    for (let call = 0; call < 20; call += 1) expect((await rig.run('find', FIND)).State).toBe('ok');
    expect([near.seen.length, far.seen.length]).toEqual([20, 0]);
  });

  it.each<[string, Behaviour]>([
    ['no answer', resets],
    ['half an answer', halfAnswer],
    ['an unsigned 502', says(502, 'bad gateway')],
    ['an unsigned 503', unsigned(503, 'internal_error')],
    ['an unsigned 504', unsigned(504, 'timeout', { 'retry-after': '9' })],
    ['a signed 500 database_error', refuses(500, 'database_error')],
    ['a signed 503 write_buffer_full', refuses(503, 'write_buffer_full')],
  ])('repeats a read after %s once at the second, at once, and stays there', async (_, calls) => {
    serves(near, { calls });
    expect((await rig.run('find', FIND)).State).toBe('ok');
    expect([callsAt(near).length, callsAt(far).length]).toEqual([1, 1]);
    expect((await rig.run('find', FIND)).State).toBe('ok');
    expect([callsAt(near).length, callsAt(far).length]).toEqual([1, 2]);
    expect(await currentUrl()).toBe(far.url);
    expect(rig.server.lines.filter((line) => line.includes(`calls go to ${far.url} now`)).length).toBe(1);
  });

  it.each<[string, Behaviour, string]>([
    ['a signed 500 internal_error', refuses(500, 'internal_error'), 'internal_error'],
    ['a signed 504', refuses(504, 'database_timeout'), 'database_timeout'],
    ['a signed 409', refuses(409, 'conflict_retry'), 'conflict_retry'],
    ['a wrong signature', wrongSignature(), 'bad_signature'],
  ])('stays after %s, which is the answer', async (_, calls, code) => {
    serves(near, { calls });
    expect((await rig.run('find', FIND)).Code).toBe(code);
    expect(callsAt(far).length).toBe(0);
    expect(await currentUrl()).toBe(near.url);
  });

  it('never sends a write without key twice, and sends the next one elsewhere', async () => {
    serves(near, { calls: resets });
    expect((await rig.run('insert', INSERT)).Code).toBe('network');
    expect([callsAt(near).length, callsAt(far).length]).toEqual([1, 0]);
    expect((await rig.run('insert', INSERT)).State).toBe('ok');
    expect([callsAt(near).length, callsAt(far).length]).toEqual([1, 1]);
  });

  it('repeats a write with a key, with the identical payload and another nonce', async () => {
    serves(near, { calls: resets });
    expect((await rig.run('insert', KEYED)).State).toBe('ok');
    const [first, second] = [callsAt(near)[0], callsAt(far)[0]];
    expect(second?.envelope.payload).toBe(first?.envelope.payload);
    expect(second?.nonce).not.toBe(first?.nonce);
  });

  it('asks the health after a signed 503 to a write without key, and leaves only a sidecar that is not well', async () => {
    serves(near, { calls: refuses(503, 'write_buffer_full') });
    expect((await rig.run('insert', INSERT)).Code).toBe('write_buffer_full');
    await expect.poll(() => near.seen.some(({ path }) => path === '/v1/health')).toBe(true);
    expect(await currentUrl()).toBe(near.url);
    serves(near, { calls: refuses(503, 'write_buffer_full'), health: answers('{"database":false}') });
    expect((await rig.run('insert', INSERT)).Code).toBe('write_buffer_full');
    await expect.poll(currentUrl).toBe(far.url);
    expect(callsAt(far).length).toBe(0);
  });

  it('goes back after 30 s of good health, not after 29 and not while health is bad', async () => {
    serves(near, { calls: resets, health: resets });
    await rig.run('find', FIND);
    aheadMs += 2 * RETURN_MS;
    serves(near, { health: answers('{"status":"degraded","database":true,"takesNoWrites":"standby"}') });
    await near.untilSeen(near.seen.length + 2);
    expect(await currentUrl()).toBe(far.url);
    serves(near, {});
    await expect.poll(async () => trouble(0)).toBeNull();
    aheadMs += RETURN_MS - 5000;
    await near.untilSeen(near.seen.length + 2);
    expect(await currentUrl()).toBe(far.url);
    aheadMs += 5000;
    await expect.poll(currentUrl).toBe(near.url);
    const before = callsAt(far).length;
    expect((await rig.run('find', FIND)).State).toBe('ok');
    expect(callsAt(far).length).toBe(before);
    expect(rig.server.lines.at(-1)).toBe(`${near.url} has been well for 30 s: calls go there again`);
  });

  it('takes the calls elsewhere when the circuit of the first opens', async () => {
    serves(near, { calls: resets, health: resets });
    const tickets = Array.from({ length: 16 }, () => rig.call('find', FIND));
    for (const ticket of tickets) expect((await rig.result(ticket)).State).toBe('ok');
    expect((await addresses())[0]).toMatchObject({ circuit: 'open', isCurrent: false });
    expect((await rig.status()).circuit).toBe('closed');
  });

  it('ends a call once each address has failed, and the others are unavailable only while all circuits are open', async () => {
    for (const api of [near, far]) serves(api, { calls: resets, health: resets });
    for (let call = 0; call < 10; call += 1) {
      const ticket = rig.call('insert', INSERT);
      if (!ticket.Accepted) break;
      expect((await rig.result(ticket)).Code).toBe('network');
    }
    expect(rig.call('find', FIND).Error).toContain('unavailable: paused');
    expect(rig.server.lines).toContainEqual(
      expect.stringContaining(`no usable answer from ${near.url} and ${far.url}`),
    );
    expect((await addresses()).map(({ circuit }) => circuit)).toEqual(['open', 'open']);
  });

  it('signs for the clock of each machine', async () => {
    far.clockOffsetMs = 3_600_000;
    await rig.command('db-reload');
    serves(near, { calls: resets });
    expect((await rig.run('find', FIND)).State).toBe('ok');
    const { ts } = callsAt(far).at(-1)?.envelope ?? {};
    expect(Math.abs(Number(ts) - far.now / 1000)).toBeLessThan(5);
    expect((await addresses()).map(({ clockOffsetSeconds }) => Math.round(Number(clockOffsetSeconds) / 100))).toEqual([
      0, 36,
    ]);
  });

  it('begins at the second if the first is away at the start', async () => {
    const { url } = near;
    await near.close();
    const other = new Rig({ url: [url, far.url] }, quickTimers());
    await other.command('db-reload');
    expect((await other.status()).url).toBe(far.url);
    expect((await other.run('insert', INSERT)).State).toBe('ok');
    await other.stop();
  });

  it('is not asked in a circle while no address is well', async () => {
    for (const api of [near, far]) serves(api, { health: answers('{"database":false}') });
    const other = new Rig({ url: [near.url, far.url] }, { ...SYSTEM_TIMERS, every: () => () => {} });
    await other.command('db-reload');
    for (let call = 0; call < 10; call += 1) expect((await other.run('find', FIND)).State).toBe('ok');
    expect([near, far].map(({ seen }) => seen.length - 10).every((asked) => asked <= 2)).toBe(true);
    await other.stop();
  });

  it('keeps a stream to one address at a time', async () => {
    for (const api of [near, far]) answerOverStream(api);
    const transports = async () => (await addresses()).map(({ transport }) => transport);
    await rig.command('db-reload');
    await rig.run('find', FIND);
    await expect.poll(transports).toEqual(['stream', 'post']);
    serves(near, { calls: refuses(503, 'write_buffer_full'), health: answers('{"database":false}') });
    expect((await rig.run('find', FIND)).State).toBe('ok');
    await rig.run('find', FIND);
    await expect.poll(transports).toEqual(['post', 'stream']);
    // The questions for its health open no stream.
    await near.untilSeen(near.seen.length + 3);
    expect(await transports()).toEqual(['post', 'stream']);
  });

  it('passes over a host that is not allowed, and says so', async () => {
    const stranger = `http://localhost:${near.port}`;
    const other = new Rig({ url: [stranger, far.url], allowedHosts: ['127.0.0.1'] }, quickTimers());
    expect((await other.run('find', FIND)).State).toBe('ok');
    expect(other.server.lines).toContain('the host localhost is not in allowedHosts: no call goes there');
    expect((await other.status()).url).toBe(far.url);
    await other.stop();
  });
});

describe('the commands', () => {
  it('show each address', async () => {
    serves(near, { calls: resets, health: answers('{"database":false}') });
    await rig.run('find', FIND);
    await expect.poll(() => trouble(0)).toBe('its database does not answer');
    const status = await rig.command('db-status');
    expect(status).toContain(`address 1     ${near.url}: not well: its database does not answer`);
    expect(status).toContain(`address 2     ${far.url}: well; calls go here`);
    const health = await rig.command('db-health');
    expect(health).toContain(`address 1 of 2: ${near.url}, in reserve`);
    expect(health).toContainEqual(expect.stringMatching(/^FAIL database .* does not answer the sidecar$/));
    expect(health).toContain(`address 2 of 2: ${far.url}, calls go here`);
    expect(health.at(-1)).toBe('every layer works');
  });
});

describe('an address of the list', () => {
  const lines = async (of: Rig = rig) => (await of.command('db-status')).filter((line) => line.startsWith('address'));

  it('is not said to be well before its sidecar has answered', async () => {
    const mute: Behaviour = () => {};
    serves(far, { health: mute });
    const other = new Rig({ url: [near.url, far.url], timeoutMs: 30_000 }, quickTimers());
    void other.command('db-reload');
    await far.untilSeen(1);
    await expect.poll(() => lines(other)).toContain(`address 1     ${near.url}: well; calls go here`);
    expect(await lines(other)).toContain(`address 2     ${far.url}: not asked yet`);
    const [, second] = (await other.status()).addresses as Record<string, unknown>[];
    expect(second).toMatchObject({ trouble: null, askedSecondsAgo: null });
    await other.stop();
  });

  it('is asked again if nothing followed from the first question', async () => {
    // Not set for this clock: a refusal of the time says nothing of the health.
    const late = [unsigned(401, 'unauthorized'), unsigned(401, 'unauthorized')];
    let asked = 0;
    serves(far, {
      health(request, response, server) {
        if (request.envelope?.payload !== '{"for":"address"}') return answers(HEALTHY)(request, response, server);
        asked += 1;
        (late.shift() ?? answers(HEALTHY))(request, response, server);
      },
    });
    await rig.command('db-reload');
    await expect.poll(() => lines()).toContain(`address 2     ${far.url}: well`);
    expect(asked).toBe(3);
  });

  it('is not asked for ever while it refuses the key', async () => {
    const refused = unsigned(401, 'unauthorized');
    serves(far, { health: refused });
    await rig.command('db-reload');
    const asked = () => far.seen.filter(({ envelope }) => envelope?.payload === '{"for":"address"}').length;
    await expect.poll(asked).toBe(5);
    serves(near, { calls: resets });
    await rig.run('find', FIND);
    expect(await lines()).toContain(`address 2     ${far.url}: not asked yet; calls go here`);
  });

  it('in reserve is as well as it was when it was asked', async () => {
    aheadMs += 12 * 60_000;
    expect(await lines()).toEqual([
      `address 1     ${near.url}: well; calls go here`,
      `address 2     ${far.url}: well 12 min 00 s ago`,
    ]);
    await rig.command('db-health');
    await expect.poll(() => lines()).toContain(`address 2     ${far.url}: well`);
  });

  it('with another clock is no wrong key to db-health', async () => {
    await rig.stop();
    const { port, url } = far;
    await far.close();
    rig = new Rig({ url: [near.url, url] }, quickTimers());
    await rig.command('db-reload');
    far = await LyingServer.start(SECRET, port);
    far.clockOffsetMs = 3_600_000;
    serves(far, { health: authenticates(HEALTHY), calls: authenticates('{}') });
    expect((await rig.command('db-health')).filter((line) => line.startsWith('every layer'))).toHaveLength(2);
  });

  it('that gets no call is not in reserve to db-health', async () => {
    const stranger = `http://localhost:${near.port}`;
    const other = new Rig({ url: [far.url, stranger], allowedHosts: ['127.0.0.1'] }, quickTimers());
    expect(await other.command('db-health')).toContain(`address 2 of 2: ${stranger}, gets no call`);
    await other.stop();
  });
});

async function addresses(): Promise<Record<string, unknown>[]> {
  return (await rig.status()).addresses as Record<string, unknown>[];
}

async function trouble(place: number): Promise<unknown> {
  return (await addresses())[place]?.trouble;
}

describe('the id of a sidecar', () => {
  const ID = 'abcdefghijkl2345';

  it('is asked for at the start and stands in front of each nonce, until a request is refused', async () => {
    near.instance = ID;
    await rig.command('db-reload');
    await rig.run('find', FIND);
    expect(callsAt(near).at(-1)?.nonce).toMatch(new RegExp(`^${ID}\\.[A-Za-z0-9_-]{22}$`));
    near.script = [unsigned(401, 'unauthorized')];
    expect((await rig.run('insert', INSERT)).State).toBe('ok');
    expect(callsAt(near).at(-1)?.nonce).toMatch(/^[A-Za-z0-9_-]{22}$/);
  });

  it('is no part of a nonce if it is none', async () => {
    near.instance = `${ID} `;
    await rig.command('db-reload');
    await rig.run('find', FIND);
    expect(callsAt(near).at(-1)?.nonce).toMatch(/^[A-Za-z0-9_-]{22}$/);
  });
});
