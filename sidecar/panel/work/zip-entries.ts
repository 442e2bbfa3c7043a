import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl';
import { type EntryKind, EntryRefused, EntryRules } from '../installs/entry-rules.ts';
import { PanelError } from '../panel-error.ts';

/** File of an archive whose head was judged. */
export interface ZipEntry {
  readonly path: string;
  readonly isProgram: boolean;
  /** Its content is the path that it leads to. */
  readonly isLink: boolean;
  readonly isPacked: boolean;
  readonly crc: number;
  /** Place of its bytes in the archive. */
  readonly start: number;
  readonly packedBytes: number;
  readonly bytes: number;
}

export interface ZipList {
  readonly folders: readonly string[];
  readonly files: readonly ZipEntry[];
  /** Entries that no system needs, such as `__MACOSX`. */
  readonly ignored: number;
  readonly rules: EntryRules;
}

export interface LinkRights {
  /** Default: a link is refused. */
  readonly mayLink?: boolean;
}

const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const STORED = 0;
const DEFLATED = 8;
const ENCRYPTED_FLAGS = 0x2041;
const UNICODE_PATH = 0x7075;
const FILE_TYPE = 0o170000;
const REGULAR = 0o100000;
const FOLDER = 0o040000;
const LINK = 0o120000;
const PROGRAM = 0o111;

/**
 * Judges every entry of an archive by its heads, before a byte is unpacked.
 *
 * @throws PanelError `upload.archive` with the entry
 */
export async function listZip(file: string, rights: LinkRights = {}): Promise<ZipList> {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    const options = { lazyEntries: true, decodeStrings: false, autoClose: false };
    const { size } = fstatSync(descriptor);
    return await readEntries(await fromRandomAccessReaderPromise(new HeadReader(descriptor), size, options), rights);
  } catch (error) {
    if (error instanceof PanelError) throw error;
    if (error instanceof EntryRefused) throw archiveRefused(error.entry, error.reason);
    throw archiveRefused('', error instanceof Error ? error.message : String(error));
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Heads are small and many: read in this thread, they cost a fraction of what they do in the threads that all of the process shares. */
class HeadReader extends RandomAccessReader {
  readonly #descriptor: number;

  constructor(descriptor: number) {
    super();
    this.#descriptor = descriptor;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    callback(this.#fault(buffer, offset, length, position));
  }

  #fault(buffer: Buffer, offset: number, length: number, position: number): Error | null {
    try {
      const read = readSync(this.#descriptor, buffer, offset, length, position);
      return read === length ? null : new Error('unexpected EOF');
    } catch (error) {
      return error as Error;
    }
  }
}

export function archiveRefused(entry: string, detail: string): PanelError {
  return new PanelError('upload.archive', { entry, detail: detail.slice(0, 300) });
}

async function readEntries(zip: ZipFile, rights: LinkRights): Promise<ZipList> {
  const rules = new EntryRules();
  const folders: string[] = [];
  const files: ZipEntry[] = [];
  const ranges: { readonly from: number; readonly to: number; readonly name: string }[] = [];
  let ignored = 0;
  for await (const entry of zip.eachEntry()) {
    const name = nameOf(entry);
    const kind = kindOf(entry, name, rights);
    const path = rules.add(name, kind);
    const start = await checkLocalHead(zip, entry, name);
    ranges.push({ from: entry.relativeOffsetOfLocalHeader, to: start + entry.compressedSize, name });
    if (path === null) ignored += 1;
    else if (kind === 'folder') folders.push(path);
    else files.push(fileOf(entry, path, start));
  }
  checkApart(ranges);
  return { folders, files, ignored, rules };
}

function fileOf(entry: Entry, path: string, start: number): ZipEntry {
  const { crc32: crc, compressedSize: packedBytes, uncompressedSize: bytes, compressionMethod } = entry;
  const mode = entry.externalFileAttributes >>> 16;
  const [isProgram, isLink] = [(mode & PROGRAM) !== 0, (mode & FILE_TYPE) === LINK];
  return { path, isProgram, isLink, isPacked: compressionMethod === DEFLATED, crc, start, packedBytes, bytes };
}

/** UTF-8, whatever the flag says; another program would read other bytes as another name. */
function nameOf({ fileNameRaw, extraFields }: Entry): string {
  const name = utf8(fileNameRaw);
  const other = extraFields.find(({ id }) => id === UNICODE_PATH);
  if (other !== undefined && utf8(other.data.subarray(5)) !== name) throw archiveRefused(name, 'it has two names');
  return name;
}

function utf8(bytes: Buffer): string {
  try {
    return STRICT_UTF8.decode(bytes);
  } catch {
    throw archiveRefused(bytes.toString('latin1').slice(0, 300), 'expected a name in UTF-8');
  }
}

function kindOf(entry: Entry, name: string, { mayLink = false }: LinkRights): EntryKind {
  if ((entry.generalPurposeBitFlag & ENCRYPTED_FLAGS) !== 0) throw archiveRefused(name, 'the entry is encrypted');
  if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED) {
    throw archiveRefused(name, `expected the method store or deflate, got ${entry.compressionMethod}`);
  }
  const type = (entry.externalFileAttributes >>> 16) & FILE_TYPE;
  const isKnown = type === 0 || type === REGULAR || type === FOLDER || (mayLink && type === LINK);
  if (!isKnown) throw archiveRefused(name, 'the entry is a link or a device');
  const kind = name.endsWith('/') ? 'folder' : 'file';
  if ((type === FOLDER) !== (kind === 'folder') && type !== 0) throw archiveRefused(name, 'is a file and a folder');
  if (kind === 'folder' && entry.uncompressedSize > 0) throw archiveRefused(name, 'a folder has no content');
  if (entry.compressionMethod === STORED && entry.compressedSize !== entry.uncompressedSize) {
    throw archiveRefused(name, 'a stored entry has two sizes');
  }
  return kind;
}

/** Returns the place of the content. Other programs read the local head, so that both must tell the same. */
async function checkLocalHead(zip: ZipFile, entry: Entry, name: string): Promise<number> {
  const head = await zip.readLocalFileHeaderPromise(entry);
  const isSame =
    head.fileName.equals(entry.fileNameRaw) &&
    head.compressionMethod === entry.compressionMethod &&
    (head.generalPurposeBitFlag & ENCRYPTED_FLAGS) === 0;
  if (!isSame) throw archiveRefused(name, 'its two heads differ');
  return head.fileDataStart;
}

function checkApart(ranges: { readonly from: number; readonly to: number; readonly name: string }[]): void {
  ranges.sort((a, b) => a.from - b.from);
  for (const [index, range] of ranges.entries()) {
    const before = ranges[index - 1];
    if (before !== undefined && range.from < before.to) throw archiveRefused(range.name, `overlaps ${before.name}`);
  }
}
