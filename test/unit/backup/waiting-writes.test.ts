import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, expect, it } from 'vitest';
import { copyWaiting, readWaiting } from '#sidecar/backup/waiting-writes.ts';
import { SYSTEM_CLOCK } from '#sidecar/write-behind/journal/clock.ts';
import { NODE_DISK } from '#sidecar/write-behind/journal/disk.ts';
import type { JournalEntry, NewEntry } from '#sidecar/write-behind/journal/entries.ts';
import { Journal } from '#sidecar/write-behind/journal/journal.ts';
import { testFolder } from '#support/test-folder.ts';

let folder: string;
beforeEach(() => {
  folder = testFolder();
});

const entryOf = (text: string): NewEntry => ({
  ...{ namespace: 'game', token: 1, kid: 'local', op: 'insert', time: 0, pending: 1, key: null, retryOf: null },
  payload: JSON.stringify({ namespace: 'game', table: 'notes', rows: [{ text }] }),
});

async function waitingOf(journal: string): Promise<JournalEntry[]> {
  const file = join(folder, 'waiting.jsonl');
  await copyWaiting(journal, file);
  const entries: JournalEntry[] = [];
  for await (const entry of readWaiting(file)) entries.push(entry);
  return entries;
}

it('gives back every write that waited, whatever its texts hold', { timeout: 60_000 }, async () => {
  const separators = fc.constantFrom('\u2028', '\u2029', '\u0085', '\r', '\n', '\v', '"');
  const texts = fc.array(fc.oneof(separators, fc.string({ unit: 'grapheme' }))).map((parts) => parts.join(''));
  let count = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(texts, { minLength: 1, maxLength: 5 }), async (written) => {
      count += 1;
      const path = join(folder, `journal-${count}`);
      const log = () => undefined;
      const { journal } = await Journal.open({ folder: path, disk: NODE_DISK, clock: SYSTEM_CLOCK, log });
      for (const text of written) await journal.append(entryOf(text));
      await journal.close();
      const payloads = (await waitingOf(path)).map(({ payload }) => payload);
      expect(payloads).toEqual(written.map((text) => entryOf(text).payload));
    }),
    { numRuns: 20, examples: [[['one\u2028two', 'one\u2029two', 'x'.repeat(70_000)]]] },
  );
});
