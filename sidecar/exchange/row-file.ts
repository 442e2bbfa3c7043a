import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { RowFileError } from './row-format.ts';

const PART_BYTES = 262_144;

/** A file that is read twice: once to check it, once to write its rows. */
export interface RowFile {
  /** UTF-8 text from the beginning. @throws RowFileError if it is other text, or changed since it was opened */
  text(): AsyncIterable<string>;
  /** Size when it was opened. */
  readonly bytes: number;
  /** SHA-256 of the bytes of the last whole `text()`, hex. */
  sha256(): string;
  close(): Promise<void>;
}

export async function openRowFile(path: string): Promise<RowFile> {
  const handle = await open(path, 'r');
  if ((await handle.stat()).isDirectory()) {
    await handle.close();
    throw Object.assign(new Error(`${path} is a folder`), { code: 'EISDIR' });
  }
  const opened = await stampOf(handle);
  let digest = '';
  const read = async function* (): AsyncGenerator<string> {
    const hash = createHash('sha256');
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const stream = createReadStream(path, { fd: handle, start: 0, autoClose: false, highWaterMark: PART_BYTES });
    for await (const part of stream as AsyncIterable<Buffer>) {
      hash.update(part);
      yield decoded(() => decoder.decode(part, { stream: true }));
    }
    yield decoded(() => decoder.decode());
    if ((await stampOf(handle)) !== opened) throw new RowFileError(`${path} was changed while it was read`);
    digest = hash.digest('hex');
  };
  return { text: read, bytes: Number(opened.split(' ')[0]), sha256: () => digest, close: () => handle.close() };
}

async function stampOf(handle: FileHandle): Promise<string> {
  const { size, mtimeNs } = await handle.stat({ bigint: true });
  return `${size} ${mtimeNs}`;
}

function decoded(decode: () => string): string {
  try {
    return decode();
  } catch {
    throw new RowFileError('the file is no UTF-8 text; save it with the encoding "UTF-8"');
  }
}
