import { createHash, hash as hashOf } from 'node:crypto';
import { closeSync, constants, openSync, readdirSync, readSync } from 'node:fs';
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
/** Kept for the next file: a block for each of thousands is garbage that keeps V8's threads busy beside the API. */
let ownBlock: Buffer | undefined;

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
    ownBlock ??= Buffer.allocUnsafeSlow(BLOCK_BYTES);
    const hashed = hashContent(descriptor, ownBlock);
    also(descriptor);
    return hashed;
  } finally {
    closeSync(descriptor);
  }
}

function hashContent(descriptor: number, block: Buffer): { hash: string; bytes: number } {
  let bytes = fill(descriptor, block);
  if (bytes < block.length) return { hash: hashOf('sha256', block.subarray(0, bytes), 'base64url'), bytes };
  const hash = createHash('sha256').update(block);
  for (let read = fill(descriptor, block); read > 0; read = fill(descriptor, block)) {
    hash.update(block.subarray(0, read));
    bytes += read;
  }
  return { hash: hash.digest('base64url'), bytes };
}

/** Reads until the block is full or the file ends. */
function fill(descriptor: number, block: Buffer): number {
  let bytes = 0;
  for (let read = -1; read !== 0 && bytes < block.length; bytes += read)
    read = readSync(descriptor, block, bytes, block.length - bytes, null);
  return bytes;
}

/** Packed for a row of `panel.sqlite`. */
export function packHashes(files: FileHashes): Uint8Array {
  return gzipSync(JSON.stringify([...files]));
}

export function unpackHashes(packed: Uint8Array): FileHashes {
  return new Map(JSON.parse(gunzipSync(packed, { maxOutputLength: MAX_LIST_BYTES }).toString('utf8')));
}
