import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { watchPace } from '#panel/http/receive-upload.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** A sender of so many bytes a second; resolves with the seconds after which it is cut off, or null. */
function cutOffAfter(bytesPerSecond: number): number | null {
  const socket = { bytesRead: 0 };
  let cutAt: number | null = null;
  let second = 0;
  const request = { socket, destroy: () => (cutAt ??= second) };
  const timer = watchPace(request as unknown as IncomingMessage);
  for (second = 1; second <= 120 && cutAt === null; second += 1) {
    socket.bytesRead += bytesPerSecond;
    vi.advanceTimersByTime(1000);
  }
  clearInterval(timer);
  return cutAt;
}

it.each([
  ['nothing', 0, 35],
  ['a little less than 16 KiB', 16_000, 35],
  ['16 KiB', 16_384, null],
])('an upload of %s a second', (_what, bytesPerSecond, cutAt) => {
  expect(cutOffAfter(bytesPerSecond)).toBe(cutAt);
});

it('a body that is refused has lost its connection, while its file is being closed', async () => {
  const request = new IncomingMessage(new Socket());
  const timer = watchPace(request);
  const refused = pipeline(request, async () => Promise.reject(new Error('no')));
  await expect(refused).rejects.toThrow('no');
  vi.advanceTimersByTime(10_000);
  clearInterval(timer);
});
