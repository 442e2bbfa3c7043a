import type { FileHandle } from 'node:fs/promises';
import { PanelError } from '../panel-error.ts';
import { parseLine } from './line-text.ts';
import { offsetOf, readBlock } from './read-lines.ts';

const LF = 0x0a;

/** The last bytes of a file, from the beginning of a line. */
export async function readTail(file: FileHandle, maxBytes: number): Promise<Buffer> {
  const { size } = await file.stat();
  return readWindow(file, size - maxBytes, size);
}

/** Reads whole lines around the line with that number. @throws PanelError logs.unknown if it is not in the file */
export async function readAround(file: FileHandle, seq: number, maxBytes: number): Promise<Buffer> {
  const { size } = await file.stat();
  const offset = await offsetOf(file, seq);
  const text = await readWindow(file, offset - maxBytes / 2, Math.min(size, offset + maxBytes / 2));
  const at = offset - Math.max(0, offset - maxBytes / 2);
  const found = parseLine(firstLine(await readBlock(file, offset, maxBytes / 2)));
  if (found?.seq !== seq || at < 0) throw new PanelError('logs.unknown');
  return text.subarray(0, text.lastIndexOf(LF) + 1);
}

function firstLine(block: Buffer): string {
  const end = block.indexOf(LF);
  return block.toString('utf8', 0, end === -1 ? block.length : end);
}

/** Bytes from the first line that begins at or after `from`. */
async function readWindow(file: FileHandle, from: number, to: number): Promise<Buffer> {
  if (from <= 0) return readBlock(file, 0, to);
  // Includes the byte before, which tells whether a line begins at `from`.
  const block = await readBlock(file, from - 1, to - from + 1);
  return block.subarray(block.indexOf(LF) + 1);
}
