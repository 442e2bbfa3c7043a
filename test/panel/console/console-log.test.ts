import { readdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ConsoleLog, openConsoleLog } from '#panel/console/console-log.ts';
import type { LogLine } from '#panel/console/line-text.ts';
import { testFolder } from '#support/test-folder.ts';

const NOW = Date.parse('2026-11-23T01:02:03.004Z');
const DAY = 86_400_000;

let folder: string;
let opened: ConsoleLog[];
let troubles: string[];

beforeEach(() => {
  folder = testFolder();
  opened = [];
  troubles = [];
});

afterEach(async () => {
  for (const log of opened) await log.close();
});

async function open(options: Partial<Parameters<typeof openConsoleLog>[0]> = {}): Promise<ConsoleLog> {
  const onTrouble = (message: string) => troubles.push(message);
  const log = await openConsoleLog({ folder, onTrouble, now: () => NOW, ...options });
  opened.push(log);
  return log;
}

const names = () =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .sort();
const read = (name: string | undefined) => readFileSync(join(folder, name ?? ''), 'utf8');
const seqs = (lines: readonly LogLine[]) => lines.map((line) => line.seq);

describe('the log of the console', () => {
  it('writes a line as it is shown, with the number of the live view', async () => {
    const log = await open();
    log.beginRun();
    log.append('out', '\x1b[31mred\x1b[2J\n');
    log.append('err', '');
    await log.drain();
    expect(names()).toEqual(['2026-11-23T01-02-03Z-0001.log']);
    expect(read(names()[0])).toBe('1 2026-11-23T01:02:03.004Z out \x1b[31mred␊\n2 2026-11-23T01:02:03.004Z err \n');
    expect(log.latest(5)).toEqual([
      { seq: 1, time: '2026-11-23T01:02:03.004Z', stream: 'out', text: '\x1b[31mred␊' },
      { seq: 2, time: '2026-11-23T01:02:03.004Z', stream: 'err', text: '' },
    ]);
  });

  it('keeps the latest lines, bounded in number and in characters', async () => {
    const log = await open({ maxLines: 3, maxChars: 100 });
    for (let count = 0; count < 5; count += 1) log.append('out', 'x');
    expect(seqs(log.latest(10))).toEqual([3, 4, 5]);
    expect(seqs(log.latest(2))).toEqual([4, 5]);
    expect(seqs(log.after(3))).toEqual([4, 5]);
    expect(seqs(log.after(0, 2))).toEqual([3, 4]);
    expect(seqs(log.before(5, 1))).toEqual([4]);
    log.append('out', 'y'.repeat(99));
    expect(seqs(log.latest(10))).toEqual([5, 6]);
    expect(log.oldestSeq).toBe(5);
  });

  it('tells lines in batches, each once and in order, and those at the end too', async () => {
    const log = await open();
    const batches: number[][] = [];
    const stop = log.onLines((batch) => batches.push(seqs(batch)));
    for (let count = 0; count < 1000; count += 1) log.append('out', 'x');
    await expect.poll(() => batches.flat().length).toBe(1000);
    expect(batches.length).toBeLessThan(10);
    log.append('out', 'last');
    await log.close();
    expect(batches.flat()).toEqual(Array.from({ length: 1001 }, (_, index) => index + 1));
    stop();
  });

  it('has a file for each run, and another one where one grows too large', async () => {
    const log = await open({ maxFileBytes: 200 });
    log.beginRun();
    for (let count = 0; count < 6; count += 1) log.append('out', 'x'.repeat(40));
    log.beginRun();
    log.append('out', 'second run');
    await log.drain();
    expect(names().map((name) => name.slice(-8))).toEqual(['0001.log', '0002.log', '0003.log', '0004.log']);
    expect(names().map((name) => read(name).split('\n').length - 1)).toEqual([2, 2, 2, 1]);
    expect(read(names()[3])).toContain('second run');
    expect(log.current).toBe(names()[3]);
  });

  it('goes on with its numbers and its last lines after a clean end', async () => {
    const before = await open();
    for (let count = 0; count < 7; count += 1) before.append('out', `line ${count}`);
    const kept = before.latest(100);
    await before.close();
    const log = await open();
    expect(log.latest(100)).toEqual(kept);
    log.append('out', 'next');
    expect(log.lastSeq).toBe(8);
    expect(names()).toEqual(['2026-11-23T01-02-03Z-0001.log']);
    await log.drain();
    expect(names()).toHaveLength(2);
  });

  it('never gives a number again after a kill, though lines were lost', async () => {
    const before = await open();
    for (let count = 0; count < 50; count += 1) before.append('out', 'x');
    await before.drain();
    const kept = names();
    for (let count = 0; count < 50; count += 1) before.append('out', 'shown, and not yet written');
    // As after a kill: what was shown last is in no file.
    await before.drain();
    writeFileSync(join(folder, kept[0] as string), read(kept[0]).split('\n').slice(0, 50).join('\n'));
    const log = await open();
    log.append('out', 'x');
    expect(log.lastSeq).toBeGreaterThan(100);
  });

  it('never gives a number again where the file of numbers is gone or torn', async () => {
    const before = await open();
    for (let count = 0; count < 50; count += 1) before.append('out', 'x');
    await before.close();
    for (const torn of ['', 'x\n', '12']) {
      writeFileSync(join(folder, 'next-number'), torn);
      const log = await open();
      log.append('out', 'x');
      expect(log.lastSeq).toBeGreaterThan(50);
      await log.close();
    }
  });

  it('reads past a last line that a power cut has torn', async () => {
    writeFileSync(join(folder, '2026-11-20T00-00-00Z-0001.log'), '5 2026-11-20T00:00:00.000Z out whole\n6 2026-11-2');
    const log = await open();
    expect(seqs(log.latest(10))).toEqual([5]);
  });

  it('removes files that are too old, and the oldest where all are too large; nothing else', async () => {
    for (const [name, days] of [
      ['2026-11-01T00-00-00Z-0001.log', 22],
      ['2026-11-20T00-00-00Z-0001.log', 3],
      ['2026-11-21T00-00-00Z-0001.log', 2],
      ['notes.txt', 100],
    ] as const) {
      writeFileSync(join(folder, name), 'x'.repeat(1000));
      utimesSync(join(folder, name), (NOW - days * DAY) / 1000, (NOW - days * DAY) / 1000);
    }
    const retention = () => ({ maxAgeMs: 14 * DAY, maxBytes: 1500 });
    const log = await open({ retention, maxFileBytes: 100 });
    log.append('out', 'x');
    await log.close();
    expect(names()).toEqual(['2026-11-21T00-00-00Z-0001.log', '2026-11-23T01-02-03Z-0001.log']);
    expect(readdirSync(folder)).toContain('notes.txt');
  });

  it('lists and opens its own files alone, never through a link', async () => {
    writeFileSync(join(folder, 'secret.txt'), 'secret');
    symlinkSync(join(folder, 'secret.txt'), join(folder, '2026-11-22T00-00-00Z-0001.log'));
    const log = await open();
    expect(await log.folder.list()).toEqual([]);
    for (const name of ['2026-11-22T00-00-00Z-0001.log', 'secret.txt', '../secret.txt', '', '.', 'next-number']) {
      await expect(log.folder.open(name)).rejects.toMatchObject({ key: 'logs.unknown' });
    }
  });

  it('says once that the disk takes nothing, and goes on in memory', async () => {
    const log = await open();
    rmSync(folder, { recursive: true });
    for (let count = 0; count < 3; count += 1) {
      log.append('out', 'x');
      await log.drain();
    }
    expect(log.latest(5)).toHaveLength(3);
    expect(troubles).toEqual([expect.stringMatching(/cannot be written.*ENOENT/)]);
  });

  it('names files so that they sort by time also where the clock is set back', async () => {
    let now = NOW;
    const log = await open({ now: () => now });
    log.append('out', '1');
    now -= DAY;
    log.beginRun();
    log.append('out', '2');
    await log.drain();
    expect(read(names().at(-1))).toMatch(/ 2\n$/);
  });

  it('gives pages that are bounded in characters too, and say that there is more', async () => {
    const log = await open();
    for (let count = 0; count < 1200; count += 1) log.append('out', 'x'.repeat(16_384));
    const page = await log.page(Number.POSITIVE_INFINITY, 5000);
    expect(page.more).toBe(true);
    expect(page.lines.length).toBeGreaterThan(1000);
    expect(page.lines.length).toBeLessThan(1100);
    expect(page.lines.at(-1)?.seq).toBe(1200);
    const rest = await log.page(page.lines[0]?.seq ?? 0, 5000);
    expect(rest).toMatchObject({ more: false });
    expect(seqs([...rest.lines, ...page.lines])).toEqual(Array.from({ length: 1200 }, (_, index) => index + 1));
  });
});
