import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { NewEntry } from '#sidecar/write-behind/journal/entries.ts';
import { BLOCK_BYTES, readFrame } from '#sidecar/write-behind/journal/frame.ts';
import { Group } from '#sidecar/write-behind/journal/group.ts';
import { KIND, readEntry, roomOf, writeRecord } from '#sidecar/write-behind/journal/records.ts';
import { readHeader, writeHeader } from '#sidecar/write-behind/journal/segment.ts';

/** The least that a disk may keep of a write. */
const SECTOR_BYTES = 512;

const text = fc.string({ unit: 'binary', maxLength: 80 });
const number = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const entry: fc.Arbitrary<NewEntry> = fc.record({
  namespace: text,
  token: number,
  kid: text,
  op: text,
  payload: fc.string({ unit: 'binary', maxLength: 2000 }),
  time: number,
  pending: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  key: fc.option(fc.record({ key: text, fingerprint: text, expiresAt: number })),
  retryOf: fc.option(text),
});

function frameOf(entries: readonly NewEntry[], segment = 7): Buffer {
  const group = new Group(null);
  for (const [index, one] of entries.entries())
    group.add(
      one,
      index + 1,
      () => {},
      () => {},
    );
  return Buffer.from(group.seal(segment, 3, 0, null));
}

describe('an entry', () => {
  test('comes back as it was written, wherever it lies', () => {
    fc.assert(
      fc.property(entry, number, fc.integer({ min: 0, max: 50 }), (one, position, at) => {
        const record = { ...one, kind: KIND.entry, position };
        const bytes = Buffer.alloc(at + roomOf(record));
        const length = writeRecord(bytes, at, record);
        expect(readEntry(bytes.subarray(0, at + length), at)).toEqual({ ...one, position });
      }),
    );
  });

  test('that was cut or changed in any bit is none', () => {
    fc.assert(
      fc.property(entry, fc.nat(), fc.integer({ min: 0, max: 7 }), (one, place, bit) => {
        const record = { ...one, kind: KIND.entry, position: 1 };
        const bytes = Buffer.alloc(roomOf(record));
        const whole = bytes.subarray(0, writeRecord(bytes, 0, record));
        expect(readEntry(whole.subarray(0, place % whole.length), 0)).toBeNull();
        whole[place % whole.length] = (whole[place % whole.length] as number) ^ (1 << bit);
        expect(readEntry(whole, 0)).toBeNull();
      }),
    );
  });
});

describe('a group', () => {
  test('has whole blocks, and says what is in it', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 20 }), (entries) => {
        const frame = frameOf(entries);
        expect(frame.length % BLOCK_BYTES).toBe(0);
        const lastPosition = entries.length;
        expect(readFrame(frame, 0, 7)).toMatchObject({
          group: 3,
          count: entries.length,
          firstPosition: 1,
          lastPosition,
        });
        expect(readFrame(frame, 0, 8)).toBeNull();
      }),
    );
  });

  test('that was cut anywhere, or changed in any bit, is none', () => {
    fc.assert(
      fc.property(
        fc.array(entry, { maxLength: 5 }),
        fc.nat(),
        fc.integer({ min: 0, max: 7 }),
        (entries, place, bit) => {
          const frame = frameOf(entries);
          expect(readFrame(frame.subarray(0, place % frame.length), 0, 7)).toBeNull();
          const at = place % frame.length;
          frame[at] = (frame[at] as number) ^ (1 << bit);
          expect(readFrame(frame, 0, 7)).toBeNull();
        },
      ),
    );
  });

  test('that lacks any of its sectors, as after a power cut, is none', () => {
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1, maxLength: 5 }), fc.nat(), (entries, place) => {
        const frame = frameOf(entries);
        const sector = (place % (frame.length / SECTOR_BYTES)) * SECTOR_BYTES;
        fc.pre(frame.subarray(sector, sector + SECTOR_BYTES).some((byte) => byte !== 0));
        frame.fill(0, sector, sector + SECTOR_BYTES);
        expect(readFrame(frame, 0, 7)).toBeNull();
      }),
    );
  });

  test('cannot be imitated by a payload', () => {
    const inner = frameOf([{ ...plain, payload: 'x' }]);
    const outer = frameOf([{ ...plain, payload: inner.toString('utf8').repeat(3) }]);
    for (let at = 8; at < outer.length; at += 1) expect(readFrame(outer, at, 7)).toBeNull();
  });
});

const plain: NewEntry = {
  namespace: 'stats',
  token: 1,
  kid: 'local',
  op: 'insert',
  payload: '{}',
  time: 1,
  pending: 1,
  key: null,
  retryOf: null,
};

test('the header of a segment comes back, and every flipped bit of it is noticed', () => {
  const header = {
    journal: 'abcdefghij',
    number: 9,
    previous: 7,
    previousEnd: 5120,
    fileBytes: 65536,
    firstPosition: 88,
  };
  const block = Buffer.alloc(BLOCK_BYTES);
  writeHeader(block, header);
  expect(readHeader(block)).toEqual(header);
  for (let bit = 0; bit < BLOCK_BYTES * 8; bit += bit < 1024 ? 1 : 61) {
    const changed = Buffer.from(block);
    changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
    expect(readHeader(changed)).toBe('damaged');
  }
  expect(readHeader(Buffer.alloc(BLOCK_BYTES))).toBe('empty');
});
