import { expect, test } from 'vitest';
import { RequestLines } from '#sidecar/embedded/readable-line.ts';
import { LOG_EVENT } from '#sidecar/log-event.ts';

const line = (msg: string, code = '') => ({
  level: 'error',
  msg,
  fields: { code, ...(msg === 'request' ? { event: LOG_EVENT.request } : {}) },
});

test('of requests that fail alike the console shows one each half minute, and how many it left out', () => {
  const requests = new RequestLines();
  const failed = line('request', 'database_error');
  expect(requests.leftOutBefore(failed, 0)).toBe(0);
  for (const ms of [1, 1000, 29_999]) expect(requests.leftOutBefore(failed, ms)).toBeNull();
  expect(requests.leftOutBefore(failed, 30_000)).toBe(3);
  expect(requests.leftOutBefore(failed, 60_000)).toBe(0);
});

test('another code is another matter, and other lines are all shown', () => {
  const requests = new RequestLines();
  expect(requests.leftOutBefore(line('request', 'database_error'), 0)).toBe(0);
  expect(requests.leftOutBefore(line('request', 'database_timeout'), 0)).toBe(0);
  for (const ms of [0, 1, 2]) expect(requests.leftOutBefore(line('the database failed'), ms)).toBe(0);
});
