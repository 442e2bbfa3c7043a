import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { type RefusedStream, StreamClient } from '../support/stream-client.ts';
import { type AttackedSidecar, attackedSidecar, expectUnharmed } from './attack-world.ts';
import type { StreamFlood } from './stream-flood.ts';

const STREAMS = 200;
/** Bounds of docs/api.md. */
const MOST = 64;
const MOST_OF_ADDRESS = 16;
const MOST_BYTES = 8_388_608;
const COUNT = { namespace: 'game', table: 'things' };
const COUNT_PATH = '/v1/data/count';

/** Opens streams from addresses that take turns; resolves with those that stand and the answers to the others. */
async function open(sidecar: AttackedSidecar, count: number, addresses: number) {
  const streams = Array.from({ length: count }, (_, index) => {
    const localAddress = `127.0.1.${1 + (index % addresses)}`;
    const stream = new StreamClient({ address: sidecar.address, localAddress });
    onTestFinished(() => stream.close());
    return stream;
  });
  const refused: RefusedStream[] = [];
  const open: StreamClient[] = [];
  for (const stream of streams) {
    await stream.opened.then(
      () => open.push(stream),
      (error) => refused.push(error),
    );
  }
  return { open, refused };
}

const statusesOf = (refused: readonly RefusedStream[]) => new Set(refused.map(({ answer }) => answer.status));

function residentMegabytes({ pid }: AttackedSidecar): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

it(`${STREAMS} streams: ${MOST} stand, the others are refused, and nobody else waits`, async () => {
  const sidecar = await attackedSidecar();
  await expectUnharmed(sidecar, async () => {
    const { open: standing, refused } = await open(sidecar, STREAMS, 10);
    expect(standing).toHaveLength(MOST);
    expect(statusesOf(refused)).toEqual(new Set([429]));
    // Without a single right call they make room for others.
    expect(await Promise.all(standing.map(({ closed }) => closed))).toEqual(Array(MOST).fill(4401));
    const [newcomer] = (await open(sidecar, 1, 1)).open;
    const envelope = sidecar.client.envelope(COUNT_PATH, COUNT);
    expect(await newcomer?.send(COUNT_PATH, envelope)).toMatchObject({ status: 200 });
  });
});

it(`${STREAMS} streams of one address: ${MOST_OF_ADDRESS} stand, and leave room for the others`, async () => {
  const sidecar = await attackedSidecar();
  await expectUnharmed(sidecar, async () => {
    const attack = await open(sidecar, STREAMS, 1);
    expect(attack.open).toHaveLength(MOST_OF_ADDRESS);
    expect(statusesOf(attack.refused)).toEqual(new Set([429]));
    const own = new StreamClient({ address: sidecar.address, localAddress: '127.0.2.1' });
    onTestFinished(() => own.close());
    expect(await own.send(COUNT_PATH, sidecar.client.envelope(COUNT_PATH, COUNT))).toMatchObject({ status: 200 });
  });
});

it('streams that each send a message without an end hold no more memory than their bound', async (context) => {
  if (process.platform !== 'linux') context.skip('memory of another process is read on Linux only');
  const sidecar = await attackedSidecar();
  const before = residentMegabytes(sidecar);
  const { open: standing } = await open(sidecar, MOST, 8);
  const part = Buffer.alloc(MOST_BYTES / 8 - 64);
  for (const { socket } of standing) {
    for (let sent = 0; sent < 8; sent += 1) socket.send(part, { fin: false });
  }
  // 512 MiB were sent; strangers of one network may have 8 bodies of the full size under way.
  await expect.poll(() => standing.filter(({ isOpen }) => !isOpen).length).toBeGreaterThanOrEqual(MOST - 9);
  expect(residentMegabytes(sidecar) - before).toBeLessThan(400);
  expect(await sidecar.client.must('count', COUNT)).toEqual({ count: 0 });
});

it.each([
  { what: 'messages full of the smallest frames', streams: 8, kind: 'smallest' },
  { what: 'right calls whose answers nobody takes', streams: 4, kind: 'unread' },
] as const)('$what, on $streams streams, delay no others', async ({ streams, kind }) => {
  const sidecar = await attackedSidecar({ limits: { perKeyPerSecond: 1_000_000, perAddressPerSecond: 1_000_000 } });
  await expectUnharmed(sidecar, async () => {
    const flood: StreamFlood = { address: sidecar.address, streams, kind };
    const thread = new Worker(new URL('stream-flood.ts', import.meta.url), { workerData: flood });
    onTestFinished(async () => {
      await thread.terminate();
    });
    await once(thread, 'message');
  });
});
