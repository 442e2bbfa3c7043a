import type { FileHandle } from 'node:fs/promises';
import { type LogLine, parseLine } from './line-text.ts';
import type { LogFolder } from './log-folder.ts';

/** More bytes than the longest line with its head. */
const BLOCK_BYTES = 131_072;

const LF = 0x0a;

/** Lines of the files with smaller numbers, newest first, a block at a time. */
export async function* linesBefore(folder: LogFolder, seq: number): AsyncGenerator<LogLine[]> {
  for (const { name } of (await folder.list()).reverse()) {
    const file = await folder.open(name).catch(() => null);
    // Swept meanwhile.
    if (file === null) continue;
    try {
      const first = await firstSeqOf(file);
      if (first === null || first >= seq) continue;
      const end = await offsetOf(file, seq);
      yield* linesBackwards(file, end);
    } finally {
      await file.close();
    }
  }
}

/** Offset of the first line with that number or a larger one, else the end of the file. */
export async function offsetOf(file: FileHandle, seq: number): Promise<number> {
  let low = 0;
  let high = (await file.stat()).size;
  if (seq === Number.POSITIVE_INFINITY) return high;
  // Lines before `low` have smaller numbers; lines from `high` on do not.
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const line = await lineFrom(file, middle, high);
    if (line === null || line.seq >= seq) high = middle;
    else low = line.end;
  }
  return low;
}

/** The first whole line that begins at or after `from`, and before `to`. */
async function lineFrom(file: FileHandle, from: number, to: number): Promise<{ seq: number; end: number } | null> {
  const start = from === 0 ? 0 : from - 1;
  const block = await readBlock(file, start, 2 * BLOCK_BYTES);
  let at = from === 0 ? 0 : block.indexOf(LF) + 1;
  if (from > 0 && at === 0) return null;
  while (start + at < to && at < block.length) {
    const next = block.indexOf(LF, at);
    const end = next === -1 ? block.length : next + 1;
    const parsed = parseLine(block.toString('utf8', at, end));
    if (parsed !== null) return { seq: parsed.seq, end: start + end };
    at = end;
  }
  return null;
}

async function firstSeqOf(file: FileHandle): Promise<number | null> {
  return (await lineFrom(file, 0, Number.POSITIVE_INFINITY))?.seq ?? null;
}

async function* linesBackwards(file: FileHandle, end: number): AsyncGenerator<LogLine[]> {
  let to = end;
  let rest: Buffer = Buffer.alloc(0);
  while (to > 0) {
    const from = Math.max(0, to - BLOCK_BYTES);
    const block = Buffer.concat([await readBlock(file, from, to - from), rest]);
    const cut = from === 0 ? 0 : block.indexOf(LF) + 1;
    // A long piece without line feed is not from this log; it is not gathered without bound.
    const isWhole = from === 0 || cut > 0 || block.length > 4 * BLOCK_BYTES;
    if (isWhole) yield parsedBackwards(block.subarray(cut));
    rest = isWhole ? block.subarray(0, cut) : block;
    to = from;
  }
}

function parsedBackwards(block: Buffer): LogLine[] {
  return block
    .toString('utf8')
    .split('\n')
    .reverse()
    .map(parseLine)
    .filter((line) => line !== null);
}

/** At most `length` bytes from `from`. */
export async function readBlock(file: FileHandle, from: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
