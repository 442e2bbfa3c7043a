import { expect, it } from 'vitest';
import { SigningKey } from '#protocol/signing.ts';
import { keyMarks, unequalKeys } from '#sidecar/cluster/key-marks.ts';
import type { KeyRow } from '#sidecar/security/keyring.ts';

const key = (text: string) => new SigningKey(Buffer.from(text.padEnd(32, 'x')));

/** Marks of one key `k` with its secrets, the present one first. */
function marks(present: string, before?: string) {
  const previous = before === undefined ? null : { secret: key(before), until: 0 };
  const row: KeyRow = {
    ...{ kid: 'k', secret: key(present), previous, operations: [], namespaces: [], addresses: [] },
    allowUnfilteredWrites: false,
  };
  return keyMarks([row]);
}

it('are equal while each box takes the present secret of the other', () => {
  expect(unequalKeys(marks('a'), marks('a'))).toEqual([]);
  expect(unequalKeys(marks('b', 'a'), marks('b'))).toEqual([]);
  expect(unequalKeys(marks('b', 'a'), marks('a', 'b'))).toEqual([]);
});

it('differ by a secret that only one of them takes, and by a key that only one of them has', () => {
  expect(unequalKeys(marks('a'), marks('b'))).toEqual(['k']);
  expect(unequalKeys(marks('b', 'a'), marks('a'))).toEqual(['k']);
  expect(unequalKeys(marks('a'), keyMarks([]))).toEqual(['k']);
  expect(unequalKeys(keyMarks([]), marks('a'))).toEqual(['k']);
});
