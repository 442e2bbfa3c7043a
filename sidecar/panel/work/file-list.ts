import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

/** SHA-256 by path, with `/` between folders. */
export type FileHashes = ReadonlyMap<string, string>;

/** Entry of a folder and its folders. */
export interface FoundEntry {
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'other';
}

const MAX_LIST_BYTES = 64 * 2 ** 20;
const BLOCK_BYTES = 2 ** 18;

/** Everything below a folder, without following links: they are `other`, as are devices. */
export function* entriesBelow(folder: string, prefix = ''): Generator<FoundEntry> {
  for (const entry of readdirSync(join(folder, prefix), { withFileTypes: true })) {
    const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
    const kind = entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : 'other';
    yield { path, kind };
    if (kind === 'folder') yield* entriesBelow(folder, path);
  }
}

/** Hash and size of a file that is no link. @param also called with the open file before it is closed */
export function hashFile(path: string, also: (descriptor: number) => void = () => {}): { hash: string; bytes: number } {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const hash = createHash('sha256');
    const block = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, Math.max(1, fstatSync(descriptor).size)));
    let bytes = 0;
    for (let read = readSync(descriptor, block); read > 0; read = readSync(descriptor, block)) {
      hash.update(block.subarray(0, read));
      bytes += read;
    }
    also(descriptor);
    return { hash: hash.digest('base64url'), bytes };
  } finally {
    closeSync(descriptor);
  }
}

/** Packed for a row of `panel.sqlite`. */
export function packHashes(files: FileHashes): Uint8Array {
  return gzipSync(JSON.stringify([...files]));
}

export function unpackHashes(packed: Uint8Array): FileHashes {
  return new Map(JSON.parse(gunzipSync(packed, { maxOutputLength: MAX_LIST_BYTES }).toString('utf8')));
}
