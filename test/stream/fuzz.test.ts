import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { secretOf } from '#support/config-folder.ts';
import { type SidecarProcess, spawnSidecar } from '#support/sidecar-process.ts';
import { type Envelope, SignedClient } from '#support/signed-client.ts';
import { callFrame, readAnswers, StreamClient } from '#support/stream-client.ts';
import { testFolder } from '#support/test-folder.ts';
import { seedOf } from '#support/test-seed.ts';

/** `npm run soak -- frames` sends a million. */
const FRAMES = Number(process.env.STREAM_FUZZ_FRAMES ?? '5000');
const STREAMS_AT_A_TIME = 8;
/** Below the failures of authentication that end a stream. */
const MAX_FRAMES_OF_MESSAGE = 19;
const MAX_MORE_MEGABYTES = 150;
const PATHS = ['/v1/data/find', '/v1/health', '/v1/data/insert', '/v1/schema/sync', '/v1/nothing', ''];
const PAYLOADS = [
  '{}',
  '{"namespace":"game","table":"things"}',
  '',
  '[',
  '{"__proto__":1}',
  '\u0000',
  'ü'.repeat(300),
  '9'.repeat(4000),
];

let sidecar: SidecarProcess;

beforeAll(async () => {
  const limits = { authFailuresPerMinute: 10_000, perKeyPerSecond: 1_000_000, perAddressPerSecond: 1_000_000 };
  sidecar = await spawnSidecar(testFolder(), { limits });
});

afterAll(async () => {
  await sidecar.kill();
});

/** Draws from a seed (mulberry32). */
class Draw {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  below(count: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * count);
  }

  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }

  ascii(longest: number): string {
    return Array.from({ length: this.below(longest + 1) }, () => String.fromCharCode(this.below(128))).join('');
  }
}

/** A frame of right form with fields of any kind; some are right calls. */
function frameOf(draw: Draw, client: SignedClient): Buffer {
  const path = draw.of(PATHS);
  const signed = client.envelope(path, draw.of(PAYLOADS));
  const changes: Record<string, () => Partial<Envelope>> = {
    none: () => ({}),
    kid: () => ({ kid: draw.ascii(255) }),
    nonce: () => ({ nonce: draw.ascii(255) }),
    ts: () => ({ ts: draw.below(2 ** 32) * draw.of([1, 2 ** 20]) }),
    sig: () => ({ sig: Buffer.alloc(32, draw.below(256)).toString('base64url') }),
    payload: () => ({ payload: draw.ascii(200) }),
  };
  return callFrame(draw.below(20) === 0 ? draw.ascii(255) : path, { ...signed, ...draw.of(Object.values(changes))() });
}

type Verdict = 'answered' | 'closed' | 'either';

/** Breaks the last frame of a message in a way that is known, or in one that is not. */
const BREAKS: readonly { readonly verdict: Verdict; readonly change: (last: Buffer, draw: Draw) => Buffer }[] = [
  { verdict: 'answered', change: (last) => last },
  { verdict: 'closed', change: (last, draw) => last.subarray(0, 1 + draw.below(last.length - 1)) },
  { verdict: 'closed', change: (last, draw) => withLength(last, last.length - 3 + draw.below(2 ** 32 - last.length)) },
  { verdict: 'closed', change: (last, draw) => withLength(last, draw.below(48)).subarray(0, 4 + draw.below(44)) },
  { verdict: 'closed', change: (last, draw) => withByte(last, 4, draw.of([0, 2, 3, 255])) },
  { verdict: 'closed', change: (last, draw) => Buffer.concat([last, Buffer.alloc(1 + draw.below(3))]) },
  {
    verdict: 'either',
    change: (last, draw) => {
      let changed = last;
      for (let count = draw.below(5); count >= 0; count -= 1)
        changed = withByte(changed, draw.below(last.length), draw.below(256));
      return changed;
    },
  },
  {
    verdict: 'either',
    change: (last, draw) => Buffer.from(last.map((byte) => (draw.below(4) === 0 ? draw.below(256) : byte))),
  },
];

function withLength(frame: Buffer, length: number): Buffer {
  const changed = Buffer.from(frame);
  changed.writeUInt32BE(length);
  return changed;
}

function withByte(frame: Buffer, at: number, byte: number): Buffer {
  const changed = Buffer.from(frame);
  changed[at] = byte;
  return changed;
}

/** Sends a message on a stream of its own and judges the end. Returns its frames. */
async function round(draw: Draw, client: SignedClient, localAddress: string): Promise<number> {
  const frames = Array.from({ length: 1 + draw.below(MAX_FRAMES_OF_MESSAGE) }, () => frameOf(draw, client));
  const { verdict, change } = draw.of(BREAKS);
  const message = Buffer.concat([...frames.slice(0, -1), change(frames.at(-1) as Buffer, draw)]);
  const stream = new StreamClient({ address: sidecar.address, localAddress });
  const statuses: number[] = [];
  const { promise: answered, resolve } = Promise.withResolvers<'answered'>();
  stream.socket.on('message', (bytes: Buffer) => {
    for (const { answer } of readAnswers(bytes)) statuses.push(answer.status);
    if (statuses.length >= frames.length) resolve('answered');
  });
  await stream.opened;
  stream.socket.send(message);
  const end = await Promise.race([answered, stream.closed]);
  stream.close();
  await stream.closed;
  expect(Math.max(0, ...statuses)).toBeLessThan(500);
  if (verdict === 'answered') expect(end).toBe('answered');
  if (verdict === 'closed') expect({ end, statuses }).toEqual({ end: 1002, statuses: [] });
  return frames.length;
}

function residentMegabytes(): number {
  if (process.platform !== 'linux') return 0;
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${sidecar.pid}/status`, 'utf8'))?.[1]) / 1024;
}

it(`${FRAMES} broken frames end streams, and nothing else`, { timeout: 60_000 + 10 * FRAMES }, async () => {
  const seed = seedOf('STREAM_FUZZ_SEED');
  const client = new SignedClient({ address: sidecar.address, secret: secretOf('local') });
  let [sent, next, before] = [0, 0, Number.POSITIVE_INFINITY];
  const work = async (): Promise<void> => {
    while (sent < FRAMES) {
      next += 1;
      const frames = await round(new Draw(seed + next), client, `127.0.${1 + (next % 200)}.1`);
      sent += frames;
      // The first tenth warms the process up.
      if (sent > FRAMES / 10) before = Math.min(before, residentMegabytes());
    }
  };
  await Promise.all(Array.from({ length: STREAMS_AT_A_TIME }, work));
  expect(residentMegabytes() - before).toBeLessThan(MAX_MORE_MEGABYTES);
  expect(sidecar.log.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
  expect((await client.call('health', {})).status).toBe(200);
  await client.close();
});
