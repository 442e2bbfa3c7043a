import { expect, it } from 'vitest';
import { SharedNonces } from '#sidecar/cluster/shared-nonces.ts';

const NOW = 1_700_000_000_000;
const SECONDS = NOW / 1000;
const open = (hasOthers = true, knownSince = NOW - 5000) =>
  new SharedNonces({ neighbours: { hasOthers, knownSince }, maxSkewSeconds: 60, now: () => NOW });
const request = (changes: object = {}) => ({ nonce: 'random', sig: 'signature', ts: SECONDS, ...changes });

it('a nonce is recorded until the slowest clock refuses the request and the fastest one deletes the record', () => {
  expect(open().of(request())?.expiresAt).toBe(NOW + 121_000);
  expect(open().of(request({ ts: SECONDS + 60 }))?.expiresAt).toBe(NOW + 60_000 + 121_000);
  expect(open().of(request({ ts: SECONDS - 3 }))?.expiresAt).toBe(NOW + 121_000);
});

it('tells requests apart by their signature', () => {
  const shared = open();
  const print = (sig: string) => shared.of(request({ sig }))?.fingerprint;
  expect(print('a')).toMatch(/^[0-9a-f]{64}$/);
  expect(print('a')).toBe(print('a'));
  expect(print('a')).not.toBe(print('b'));
});

it('records nothing for a sidecar alone, or for a nonce that names its sidecar', () => {
  expect(open(false).of(request({ ts: SECONDS - 59 }))).toBeNull();
  expect(open().of(request({ nonce: 'abcdefghijklmnop.random', ts: SECONDS - 59 }))).toBeNull();
});

it('refuses a request from before the others could know this sidecar', () => {
  expect(() => open().of(request({ ts: SECONDS - 6 }))).toThrow('not authorized');
  expect(open().of(request({ ts: SECONDS - 5 }))).not.toBeNull();
});
