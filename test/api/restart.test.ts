import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi, type TestApiOptions } from '../support/api.ts';
import type { Answer, Envelope } from '../support/signed-client.ts';
import { testFolder } from '../support/test-folder.ts';

const PATH = '/v1/data/find';
const PAYLOAD = { namespace: 'game', table: 'things' };
const SKEW = 60;
const START_MS = 1_790_000_000_000;

let folder: string;
let nowMs: number;
let running: TestApi[];
beforeEach(() => {
  folder = testFolder();
  nowMs = START_MS;
  running = [];
});
afterEach(async () => {
  for (const api of running) await api.stop();
});

/** The one before is not stopped: what it left on the disk is all that the next one has, as after `kill -9`. */
async function start(options: Partial<TestApiOptions> = {}): Promise<TestApi> {
  const api = await startTestApi({ folder, now: () => nowMs, bootId: 'this-boot', ...options });
  running.push(api);
  return api;
}

async function stop(api: TestApi): Promise<void> {
  running = running.filter((other) => other !== api);
  await api.stop();
}

const send = (api: TestApi, envelope: Envelope): Promise<Answer> => api.client.send(PATH, envelope);
const sign = (api: TestApi, ts = Math.floor(nowMs / 1000)) => api.client.envelope(PATH, PAYLOAD, { ts });
const warnings = (api: TestApi) => api.log.filter((line) => line.includes('"level":"warn"'));

describe('a nonce accepted before a restart is refused after it', () => {
  for (const how of ['a clean stop', 'a kill']) {
    it(`within the same second, after ${how}, also one that lies ahead by the skew`, async () => {
      const first = await start();
      const seconds = nowMs / 1000;
      const envelopes = [seconds - SKEW, seconds, seconds + SKEW].map((ts) => sign(first, ts));
      for (const envelope of envelopes) expect((await send(first, envelope)).httpStatus).toBe(200);
      if (how === 'a clean stop') await stop(first);
      const second = await start();
      for (const envelope of envelopes) expect((await send(second, envelope)).httpStatus).toBe(401);
      nowMs += 2 * SKEW * 1000;
      expect((await send(second, envelopes[2] as Envelope)).httpStatus).toBe(401);
      expect(second.calls).toEqual([]);
      expect((await send(second, sign(second))).httpStatus).toBe(200);
      expect(warnings(second)).toEqual([]);
    });
  }

  it('over many restarts, and files of long ago go away', async () => {
    const envelopes: Envelope[] = [];
    for (let round = 0; round < 6; round += 1) {
      const api = await start();
      for (const old of envelopes) expect((await send(api, old)).httpStatus).toBe(401);
      envelopes.push(sign(api));
      expect((await send(api, envelopes.at(-1) as Envelope)).httpStatus).toBe(200);
      nowMs += 5_000;
      await stop(api);
    }
    const files = () => readdirSync(join(folder, 'data', 'nonces')).filter((name) => name.endsWith('.nonces')).length;
    expect(files()).toBe(6);
    nowMs += 600_000;
    const last = await start();
    expect((await send(last, sign(last))).httpStatus).toBe(200);
    await expect.poll(files).toBe(1);
  });

  it('also where the skew is larger after it', async () => {
    const first = await start();
    const envelope = sign(first);
    expect((await send(first, envelope)).httpStatus).toBe(200);
    nowMs += 300_000;
    expect((await send(first, sign(first))).httpStatus).toBe(200);
    await stop(first);
    const second = await start({ config: { api: { maxSkewSeconds: 600 } } });
    expect((await send(second, envelope)).httpStatus).toBe(401);
    expect((await send(second, sign(second))).httpStatus).toBe(200);
  });
});

describe('after a power failure', () => {
  it('nothing signed before the last recorded time plus the skew is accepted; a line says for how long', async () => {
    const first = await start();
    const accepted = sign(first, nowMs / 1000 + SKEW);
    expect((await send(first, accepted)).httpStatus).toBe(200);
    nowMs += 10_000;
    const second = await start({ bootId: 'the-next-boot' });
    expect(warnings(second).join()).toMatch(/machine was restarted.* is refused, for \d+ s/);
    expect((await send(second, accepted)).httpStatus).toBe(401);
    expect((await send(second, sign(second))).httpStatus).toBe(401);
    expect(second.calls).toEqual([]);
    nowMs += 2 * SKEW * 1000;
    expect((await send(second, sign(second))).httpStatus).toBe(200);
  });

  it('a start soon after it does not forget that', async () => {
    const first = await start();
    const accepted = sign(first, nowMs / 1000 + SKEW);
    expect((await send(first, accepted)).httpStatus).toBe(200);
    await start({ bootId: 'the-next-boot' });
    const third = await start({ bootId: 'the-next-boot' });
    expect((await send(third, accepted)).httpStatus).toBe(401);
    expect((await send(third, sign(third))).httpStatus).toBe(401);
  });

  it('those who are refused meanwhile are not locked out', async () => {
    await start();
    const second = await start({ bootId: 'the-next-boot' });
    for (let call = 0; call < 30; call += 1) expect((await send(second, sign(second))).httpStatus).toBe(401);
    nowMs += 2 * SKEW * 1000;
    expect((await send(second, sign(second))).httpStatus).toBe(200);
  });

  it('a clean stop before it leaves nothing to fear', async () => {
    const first = await start();
    const envelope = sign(first);
    await send(first, envelope);
    await stop(first);
    const second = await start({ bootId: 'the-next-boot' });
    expect((await send(second, envelope)).httpStatus).toBe(401);
    expect((await send(second, sign(second))).httpStatus).toBe(200);
    expect(warnings(second)).toEqual([]);
  });
});

describe('a clock that was a year ahead', () => {
  const YEAR_MS = 365 * 86_400_000;

  /** A request of the right time, and requests of the wrong one. Old nonces are dropped meanwhile if it lasts. */
  async function runAhead(minutes: number): Promise<{ api: TestApi; envelopes: Envelope[] }> {
    const api = await start();
    const envelopes = [sign(api)];
    expect((await send(api, envelopes[0] as Envelope)).httpStatus).toBe(200);
    nowMs += YEAR_MS;
    for (let minute = 0; minute <= minutes; minute += 1) {
      const envelope = sign(api);
      expect((await send(api, envelope)).httpStatus).toBe(200);
      envelopes.push(envelope);
      nowMs += 60_000;
    }
    nowMs = START_MS + 10_000;
    return { api, envelopes };
  }

  async function expectRefusedForTheSkew(api: TestApi, envelopes: Envelope[]): Promise<void> {
    const replays = async () => {
      for (const envelope of envelopes) expect((await send(api, envelope)).httpStatus).toBe(401);
    };
    await replays();
    expect((await send(api, sign(api))).httpStatus).toBe(401);
    const until = new Date(nowMs + (SKEW + 1) * 1000).toISOString();
    expect(warnings(api).filter((line) => line.includes('the clock was far ahead'))).toHaveLength(1);
    expect(warnings(api).join()).toContain(until);
    nowMs += (SKEW + 1) * 1000;
    await replays();
    expect((await send(api, sign(api))).httpStatus).toBe(200);
  }

  for (const minutes of [0, 10]) {
    it(`for ${minutes} minutes, then a power failure: requests are refused for the skew`, async () => {
      const { envelopes } = await runAhead(minutes);
      await expectRefusedForTheSkew(await start({ bootId: 'the-next-boot' }), envelopes);
    });
  }

  it('for 10 minutes, then a clean restart: requests are refused for the skew', async () => {
    const { api, envelopes } = await runAhead(10);
    await stop(api);
    await expectRefusedForTheSkew(await start(), envelopes);
  });

  it('for 10 minutes, without a restart: requests are refused for the skew', async () => {
    const { api, envelopes } = await runAhead(10);
    await expectRefusedForTheSkew(api, envelopes);
  });

  it('for a moment, then a restart: nothing is refused, as no nonce was dropped', async () => {
    const { envelopes } = await runAhead(0);
    const second = await start();
    for (const envelope of envelopes) expect((await send(second, envelope)).httpStatus).toBe(401);
    expect((await send(second, sign(second))).httpStatus).toBe(200);
    const third = await start({ bootId: 'the-next-boot' });
    expect((await send(third, sign(third))).httpStatus).toBe(401);
    nowMs += 2 * SKEW * 1000;
    expect((await send(third, sign(third))).httpStatus).toBe(200);
  });
});

describe('what cannot be trusted', () => {
  it('a time mark that cannot be read: as after a power failure', async () => {
    const first = await start();
    const envelope = sign(first);
    await send(first, envelope);
    await stop(first);
    writeFileSync(join(folder, 'data', 'nonces', 'time-mark.json'), '{"mark":');
    const second = await start();
    expect(warnings(second).join()).toContain('cannot be read');
    expect((await send(second, envelope)).httpStatus).toBe(401);
    nowMs += (SKEW + 1) * 1000;
    expect((await send(second, sign(second))).httpStatus).toBe(200);
  });

  it('a clock that goes back does not bring back what was forgotten', async () => {
    const api = await start();
    const envelope = sign(api);
    expect((await send(api, envelope)).httpStatus).toBe(200);
    nowMs += 600_000;
    expect((await send(api, sign(api))).httpStatus).toBe(200);
    nowMs = START_MS;
    expect((await send(api, envelope)).httpStatus).toBe(401);
    expect(api.calls).toHaveLength(2);
    expect(warnings(api).join()).toContain('the clock went back');
  });
});

describe('a store that cannot remember refuses, and does nothing', () => {
  it('full: 503, and it does not forget to make room', async () => {
    const api = await start({ nonceCapacity: 3 });
    const envelopes = [sign(api), sign(api), sign(api)];
    for (const envelope of envelopes) expect((await send(api, envelope)).httpStatus).toBe(200);
    const refused = await send(api, sign(api));
    expect(refused).toMatchObject({ httpStatus: 503, status: 503, code: 'internal_error', isSigned: false });
    for (const envelope of envelopes) expect((await send(api, envelope)).httpStatus).toBe(401);
    expect(api.calls).toHaveLength(3);
    expect(warnings(api).join()).toContain('full');
    nowMs += 4 * SKEW * 1000;
    expect((await send(api, sign(api))).httpStatus).toBe(200);
  });

  it('folder gone: 503 as soon as it must write there', async () => {
    const api = await start();
    expect((await send(api, sign(api))).httpStatus).toBe(200);
    rmSync(join(folder, 'data'), { recursive: true });
    writeFileSync(join(folder, 'data'), 'in the way');
    nowMs += SKEW * 1000;
    expect(await send(api, sign(api))).toMatchObject({ httpStatus: 503, code: 'internal_error', isSigned: false });
    expect(api.calls).toHaveLength(1);
    await stop(api);
    expect(warnings(api).join()).toContain('cannot be written');
  });
});
