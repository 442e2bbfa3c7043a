import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { impatientTimers, Rig, SECRET } from '#support/connector-rig.ts';
import {
  anothersAnswer,
  answers,
  authenticates,
  type Behaviour,
  brokenText,
  changedPayload,
  drips,
  endless,
  halfAnswer,
  LyingServer,
  oracleSign,
  redirects,
  resets,
  says,
  silent,
  underStatus,
  unsigned,
  wrongSignature,
} from '#support/lying-server.ts';

const FIND = { namespace: 'game', table: 'characters' };
const INSERT = { ...FIND, rows: [{}] };

/** In the project `stream:connector`. */
const IS_OVER_STREAM = process.env.TEST_TRANSPORT === 'stream';

/** A case of what no frame can hold. */
function itByPost(name: string, run: () => Promise<void>): void {
  if (!IS_OVER_STREAM) it(name, run);
}

let api: LyingServer;
let timers: ReturnType<typeof impatientTimers>;
let rig: Rig;

/** Under load an answer takes longer than the limit that a case of silence waits for. */
const PATIENT_MS = 20_000;
const IMPATIENT_MS = 200;

function startRig(timeoutMs: number): void {
  rig = new Rig({ url: api.url, timeoutMs, maxAnswerBytes: 100_000, slowCallMs: 0 }, timers);
}

/** For cases that wait until the limit. */
async function losePatience(): Promise<void> {
  await rig.stop();
  startRig(IMPATIENT_MS);
}

beforeEach(async () => {
  api = await LyingServer.start(SECRET);
  timers = impatientTimers();
  startRig(PATIENT_MS);
});

afterEach(async () => {
  await rig.stop();
  await api.close();
});

describe('what is sent', () => {
  it('is an envelope that the specification verifies, with the exact payload text', async () => {
    const payload = '{ "namespace": "game",  "table":"characters", "name": "Zoë \\u00e9 🚗" }';
    expect(await rig.run('find', payload)).toMatchObject({ State: 'ok', Status: 200, Code: '' });
    const [request] = api.seen;
    const { v, kid, ts, nonce, payload: sent, sig } = request?.envelope ?? {};
    expect(request?.path).toBe('/v1/data/find');
    if (!IS_OVER_STREAM) expect(request?.headers['content-type']).toBe('application/json');
    expect({ v, kid, sent }).toEqual({ v: 1, kid: 'local', sent: payload });
    expect(sig).toBe(oracleSign(SECRET, ['v1', '/v1/data/find', 'local', Number(ts), String(nonce), payload]));
    expect(Math.abs(Number(ts) - Date.now() / 1000)).toBeLessThan(3);
  });

  it('hands the signed payload out as it is', async () => {
    const payload = '{"rows":[{"id":9007199254740993,"money":0.10}],  "hasMore":false}';
    api.script = [answers(payload)];
    expect((await rig.run('find', FIND)).Json).toBe(payload);
  });

  it('carries a new nonce and the identical payload in every attempt', async () => {
    api.script = [unsigned(503, 'internal_error'), unsigned(503, 'internal_error')];
    expect((await rig.run('find', FIND)).State).toBe('ok');
    expect(new Set(api.seen.map((request) => request.nonce)).size).toBe(3);
    expect(new Set(api.seen.map((request) => request.envelope.payload)).size).toBe(1);
    expect(timers.pauses).toEqual([300, 600]);
  });
});

type Lie = [name: string, lie: Behaviour, code: string, attempts: number];

const LIES: Lie[] = [
  ['a wrong signature', wrongSignature(), 'bad_signature', 1],
  ['a 401 with a wrong signature', wrongSignature(401), 'bad_signature', 1],
  ['a 503 with a wrong signature', wrongSignature(503), 'bad_signature', 1],
  ['the answer to another request', anothersAnswer, 'bad_signature', 1],
  ['a changed payload', changedPayload, 'bad_signature', 1],
  ['an unsigned 200', unsigned(200, ''), 'bad_signature', 1],
  ['an unsigned 404', unsigned(404, 'invalid_request'), 'bad_signature', 1],
  ['an unsigned 500', unsigned(500, 'internal_error'), 'bad_signature', 1],
  ['an unsigned 429', unsigned(429, 'rate_limited', { 'retry-after': '1' }), 'rate_limited', 1],
  ['an unsigned 504', unsigned(504, 'timeout'), 'network', 3],
];

/** No frame can hold them; lies of a stream itself are in stream.test.ts. */
const LIES_OF_HTTP: Lie[] = [
  ['another HTTP status than the signed one', underStatus(200, 404), 'bad_response', 1],
  ['no envelope', says(200, '<html>'), 'bad_response', 1],
  ['a 401 without an envelope', says(401, 'no'), 'bad_response', 1],
  [
    'an envelope of another version',
    says(200, '{"v":2,"ok":true,"status":200,"payload":"{}","sig":"x"}'),
    'bad_response',
    1,
  ],
  ['a payload that is no UTF-8', brokenText, 'bad_response', 1],
  ['an empty body', says(200, ''), 'bad_response', 1],
  ['an answer that never ends', endless, 'bad_response', 1],
  ['an answer that says it is too long', says(200, 'x'.repeat(100_001)), 'bad_response', 1],
  ['half an answer', halfAnswer, 'network', 3],
  ['a reset connection', resets, 'network', 3],
  ['a slow drip', drips, 'network', 3],
  ['silence', silent, 'network', 3],
  ['a 502 page of a proxy', says(502, '<html>'), 'network', 3],
];

describe('a server that lies', () => {
  it.each(IS_OVER_STREAM ? LIES : [...LIES, ...LIES_OF_HTTP])(
    '%s is never believed',
    async (_name, lie, code, attempts) => {
      if (lie === silent || lie === drips) await losePatience();
      api.otherwise = lie;
      const result = await rig.run('find', FIND);
      expect(result).toMatchObject({ State: 'error', Status: 0, Code: code });
      expect(JSON.parse(result.Json)).toEqual({ error: { code, message: expect.any(String) } });
      expect(api.seen.length).toBe(attempts);
    },
  );

  itByPost('that redirects is not followed', async () => {
    const elsewhere = await LyingServer.start(SECRET);
    api.otherwise = redirects(`${elsewhere.url}/v1/data/find`);
    expect((await rig.run('find', FIND)).Code).toBe('bad_response');
    expect(elsewhere.seen.length).toBe(0);
    await elsewhere.close();
  });

  it('keeps no connection that it has spoilt', async () => {
    await losePatience();
    await rig.command('db-reload');
    for (const lie of [silent, endless, drips]) {
      api.script = [lie];
      expect((await rig.run('insert', INSERT)).State).toBe('error');
    }
    await expect.poll(() => api.openSockets).toBeLessThanOrEqual(1);
  });

  itByPost('is recovered from: the next call works', async () => {
    api.script = [endless, halfAnswer, resets];
    expect((await rig.run('insert', INSERT)).Code).toBe('bad_response');
    expect((await rig.run('insert', INSERT)).Code).toBe('network');
    expect((await rig.run('insert', INSERT)).Code).toBe('network');
    expect((await rig.run('insert', INSERT)).State).toBe('ok');
  });
});

describe('signed errors', () => {
  it('keep their status, code and payload and are never repeated', async () => {
    const payload = '{"error":{"code":"database_error","message":"no"}}';
    api.otherwise = answers(payload, 500);
    expect(await rig.run('find', FIND)).toMatchObject({
      State: 'error',
      Status: 500,
      Code: 'database_error',
      Json: payload,
    });
    api.otherwise = answers('{"error":{"code":"write_buffer_full","message":"no"}}', 503);
    expect(await rig.run('find', FIND)).toMatchObject({ Status: 503, Code: 'write_buffer_full' });
    expect(api.seen.length).toBe(2);
  });

  it('that hold no error are bad_response', async () => {
    api.otherwise = answers('[]', 409);
    expect(await rig.run('find', FIND)).toMatchObject({ State: 'error', Status: 0, Code: 'bad_response' });
  });
});

describe('repeating', () => {
  const once = { ...INSERT, idempotencyKey: 'k' };
  it.each([
    ['find', FIND, 3],
    ['count', FIND, 3],
    ['delete', FIND, 3],
    ['flush', FIND, 3],
    ['schema.sync', { namespace: 'game' }, 3],
    ['schema.describe', { namespace: 'game' }, 3],
    ['health', {}, 3],
    ['insert', INSERT, 1],
    ['update', FIND, 1],
    ['upsert', FIND, 1],
    ['insert', once, 3],
    ['update', once, 3],
    ['upsert', once, 3],
    ['insert', { ...INSERT, idempotencyKey: '' }, 1],
    ['insert', { ...INSERT, idempotencyKey: 7 }, 1],
    ['insert', { ...INSERT, idempotencyKey: 'x'.repeat(256) }, 1],
    ['insert', { ...INSERT, idempotencyKey: 'x'.repeat(255) }, 3],
  ])('%s %j has %i attempts', async (operation, payload, attempts) => {
    api.otherwise = unsigned(502, 'internal_error');
    expect((await rig.run(operation, payload)).Code).toBe('network');
    expect(api.seen.length).toBe(attempts);
  });

  it('honours a longer Retry-After of up to 10 s', async () => {
    api.script = ['2', '0'].map((seconds) => unsigned(503, 'internal_error', { 'retry-after': seconds }));
    expect((await rig.run('find', FIND)).State).toBe('ok');
    expect(timers.pauses).toEqual([2000, 600]);
  });

  it('ends the call where Retry-After is longer', async () => {
    api.script = [unsigned(503, 'internal_error', { 'retry-after': '11' })];
    expect((await rig.run('find', FIND)).Code).toBe('network');
    expect(api.seen.length).toBe(1);
  });

  itByPost('reads Retry-After as a date', async () => {
    api.script = [says(502, '', { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() })];
    expect((await rig.run('find', FIND)).Code).toBe('network');
    expect(api.seen.length).toBe(1);
  });
});

describe('the clock', () => {
  it('ten minutes off is set at start', async () => {
    api.clockOffsetMs = 600_000;
    api.otherwise = authenticates('{}');
    await rig.command('db-reload');
    expect((await rig.run('insert', INSERT)).State).toBe('ok');
    expect(api.seen.length).toBe(1);
    expect((await rig.status()).clockOffsetSeconds).toBe(600);
  });

  it('that goes wrong later is set after a 401, and a write is sent once more', async () => {
    api.otherwise = authenticates('{"inserted":1,"ids":[]}');
    expect((await rig.run('insert', INSERT)).State).toBe('ok');
    api.clockOffsetMs = -600_000;
    expect((await rig.run('insert', INSERT)).State).toBe('ok');
    expect(api.seen.length).toBe(3);
    expect((await rig.status()).clockOffsetSeconds).toBe(-600);
  });

  it('is asked once for many 401s at the same time', async () => {
    await rig.command('db-reload');
    const before = api.probes;
    api.clockOffsetMs = 600_000;
    api.otherwise = authenticates('{}');
    const tickets = Array.from({ length: 10 }, () => rig.call('insert', INSERT));
    const results = await Promise.all(tickets.map((ticket) => rig.result(ticket)));
    expect(results.map((result) => result.State)).toEqual(Array(10).fill('ok'));
    expect(api.seen.length).toBe(20);
    expect(api.probes - before).toBeLessThan(10);
  });

  it('ends with unauthorized when the second attempt fails too', async () => {
    api.otherwise = unsigned(401, 'unauthorized');
    expect(await rig.run('find', FIND)).toMatchObject({ Status: 0, Code: 'unauthorized' });
    expect(api.seen.length).toBe(2);
  });

  it('does not follow the public probe, while it is right', async () => {
    api.probeLieMs = 600_000;
    await rig.command('db-reload');
    await rig.command('db-reload');
    expect(api.readings).toBeGreaterThanOrEqual(2);
    expect((await rig.status()).clockOffsetSeconds).toBe(0);
  });

  describe('is never set by somebody in between, who makes up the unsigned answers', () => {
    const expectTruth = async (answered: number) => {
      expect(api.seen).toHaveLength(answered);
      for (const { envelope } of api.seen) expect(Math.abs(Number(envelope.ts) - api.now / 1000)).toBeLessThan(3);
      expect(Math.abs((await rig.status()).clockOffsetSeconds as number)).toBeLessThan(3);
    };

    it('at start', async () => {
      api.probeLieMs = 27_000;
      await rig.command('db-reload');
      expect((await rig.run('insert', INSERT)).State).toBe('ok');
      await expectTruth(1);
    });

    it('after a refusal of the write', async () => {
      expect((await rig.run('find', FIND)).State).toBe('ok');
      api.probeLieMs = 27_000;
      api.script = [unsigned(401, 'unauthorized')];
      expect((await rig.run('insert', INSERT)).State).toBe('ok');
      await expectTruth(3);
    });

    it('after refusals of everything, with a time that the API would take', async () => {
      api.probeLieMs = 27_000;
      api.script = [unsigned(401, 'unauthorized')];
      api.tellsTime = unsigned(401, 'unauthorized');
      await rig.command('db-reload');
      expect((await rig.run('insert', INSERT)).State).toBe('ok');
      await expectTruth(2);
    });

    it('with an answer to another request', async () => {
      api.tellsTime = anothersAnswer;
      api.probeLieMs = 27_000;
      await rig.command('db-reload');
      expect((await rig.run('insert', INSERT)).State).toBe('ok');
      await expectTruth(1);
    });
  });

  it('of a key that may not use health is that of the first probe, with a line at the next', async () => {
    api.tellsTime = answers('{"error":{"code":"forbidden","message":"the key may not use health"}}', 403);
    api.clockOffsetMs = 20_000;
    await rig.command('db-reload');
    const first = (await rig.status()).clockOffsetSeconds as number;
    // The way there and back counts.
    expect(Math.abs(first - 20)).toBeLessThan(3);
    api.probeLieMs = 27_000;
    api.script = [unsigned(401, 'unauthorized')];
    expect((await rig.run('insert', INSERT)).State).toBe('ok');
    expect((await rig.status()).clockOffsetSeconds).toBe(first);
    expect(rig.server.lines).toContainEqual(expect.stringContaining('clock not set: the key may not use health'));
  });

  it('more than a day off is not believed, with a line', async () => {
    api.clockOffsetMs = 25 * 3_600_000;
    await rig.command('db-reload');
    expect((await rig.status()).clockOffsetSeconds).toBe(0);
    expect(rig.server.lines.filter((line) => line.includes('25 hours'))).toHaveLength(1);
  });
});
