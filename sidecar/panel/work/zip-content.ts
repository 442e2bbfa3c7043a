import { createReadStream, readSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { constants, crc32, createInflateRaw, inflateRawSync } from 'node:zlib';
import { EntryRefused, type EntryRules } from '../installs/entry-rules.ts';
import { archiveRefused, type ZipEntry } from './zip-entries.ts';

/** Files up to this size are unpacked in one piece. */
const SMALL_BYTES = 2 ** 20;
/** Least that zlib takes. */
const MIN_CHUNK_BYTES = constants.Z_MIN_CHUNK;
let ownPacked: Buffer | undefined;
/** Files above 1 MiB grow at most so much, by bytes that came out. */
const MAX_RATIO = 200;
const RATIO_FROM_BYTES = 2 ** 20;

/**
 * Unpacks a file of an archive, piece by piece, and judges the bytes that come out: size, checksum, ratio, and all together.
 *
 * @throws PanelError `upload.archive` with the entry
 */
export async function readContent(
  archive: { readonly path: string; readonly descriptor: number },
  entry: ZipEntry,
  rules: EntryRules,
  take: (piece: Buffer) => void,
): Promise<void> {
  const judge = new ContentJudge(entry, rules, take);
  try {
    if (entry.packedBytes <= SMALL_BYTES && entry.bytes <= SMALL_BYTES) judge.add(readSmall(archive.descriptor, entry));
    else await readLarge(archive.path, entry, judge);
  } catch (error) {
    if (error instanceof EntryRefused) throw archiveRefused(error.entry, error.reason);
    const { code } = error as NodeJS.ErrnoException;
    const isOfArchive = code?.startsWith('Z_') === true || code === 'ERR_BUFFER_TOO_LARGE';
    throw isOfArchive ? archiveRefused(entry.path, `cannot be unpacked (${code})`) : error;
  }
  judge.end();
}

/** The result holds until the next call. */
function readSmall(descriptor: number, entry: ZipEntry): Buffer {
  ownPacked ??= Buffer.allocUnsafeSlow(SMALL_BYTES);
  const packed = ownPacked.subarray(0, entry.packedBytes);
  const read = readSync(descriptor, packed, 0, entry.packedBytes, entry.start);
  if (read < entry.packedBytes) throw archiveRefused(entry.path, 'the archive ends in it');
  if (!entry.isPacked) return packed;
  // A byte more than announced is enough to see the lie.
  const maxOutputLength = Math.max(1, entry.bytes + 1);
  // In one piece: pieces and their joining are garbage.
  return inflateRawSync(packed, { maxOutputLength, chunkSize: Math.max(MIN_CHUNK_BYTES, maxOutputLength) });
}

async function readLarge(path: string, entry: ZipEntry, judge: ContentJudge): Promise<void> {
  if (entry.packedBytes === 0) return;
  const source = createReadStream(path, { start: entry.start, end: entry.start + entry.packedBytes - 1 });
  const unpacked = async (pieces: AsyncIterable<Buffer>) => {
    for await (const piece of pieces) judge.add(piece);
  };
  if (entry.isPacked) await pipeline(source, createInflateRaw(), unpacked);
  else await pipeline(source, unpacked);
}

class ContentJudge {
  readonly #entry: ZipEntry;
  readonly #rules: EntryRules;
  readonly #take: (piece: Buffer) => void;
  #bytes = 0;
  #crc = 0;

  constructor(entry: ZipEntry, rules: EntryRules, take: (piece: Buffer) => void) {
    this.#entry = entry;
    this.#rules = rules;
    this.#take = take;
  }

  add(piece: Buffer): void {
    const { path, bytes, packedBytes } = this.#entry;
    this.#bytes += piece.length;
    this.#rules.count(path, piece.length);
    if (this.#bytes > bytes) throw archiveRefused(path, 'is larger than announced');
    if (this.#bytes > RATIO_FROM_BYTES && this.#bytes > MAX_RATIO * packedBytes) {
      throw archiveRefused(path, `expected at most ${MAX_RATIO} times the packed size`);
    }
    this.#crc = crc32(piece, this.#crc);
    this.#take(piece);
  }

  end(): void {
    const { path, bytes, crc } = this.#entry;
    if (this.#bytes !== bytes) throw archiveRefused(path, 'is smaller than announced');
    if (this.#crc !== crc) throw archiveRefused(path, 'its checksum is wrong');
  }
}
