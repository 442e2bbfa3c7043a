import { createHash } from 'node:crypto';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import yauzl from 'yauzl';
import {
  invalidRelease,
  MANIFEST_FILE,
  MAX_MANIFEST_BYTES,
  RELEASE_FILES,
  type ReleaseManifest,
  readManifest,
  SIGNATURE_FILE,
} from './release-manifest.ts';
import { checkSignature, type ReleaseTrust } from './release-trust.ts';

/** Folder of everything in the ZIP. */
const TOP = 'sidecar/';
const MAX_ENTRIES = 20_000;
const MAX_SIGNATURE_BYTES = 1000;
/** Bound of all that comes out. */
const MAX_BYTES = 2 ** 30;
const LINK = 0o120000;
const KIND = 0o170000;

/** A release inside a ZIP, trusted by its signature before any other file of it is read. */
export class ReleaseZip {
  readonly manifest: ReleaseManifest;
  readonly isSigned: boolean;
  readonly #zip: yauzl.ZipFile;
  readonly #entries: ReadonlyMap<string, yauzl.Entry>;

  private constructor(parts: {
    readonly zip: yauzl.ZipFile;
    readonly entries: ReadonlyMap<string, yauzl.Entry>;
    readonly manifest: ReleaseManifest;
    readonly isSigned: boolean;
  }) {
    this.#zip = parts.zip;
    this.#entries = parts.entries;
    this.manifest = parts.manifest;
    this.isSigned = parts.isSigned;
  }

  /** @throws PanelError `update.invalid`, `update.unsigned` */
  static async open(file: string, trust: ReleaseTrust): Promise<ReleaseZip> {
    const zip = await openZip(file);
    try {
      const entries = await readEntries(zip);
      const bytes = await readSmall(zip, entries.get(MANIFEST_FILE), MAX_MANIFEST_BYTES);
      if (bytes === null) throw invalidRelease(`it has no ${TOP}${MANIFEST_FILE}`);
      const signature = await readSmall(zip, entries.get(SIGNATURE_FILE), MAX_SIGNATURE_BYTES);
      const isSigned = checkSignature(bytes, signature?.toString('latin1') ?? null, trust);
      const manifest = readManifest(bytes);
      checkComplete(manifest, entries);
      return new ReleaseZip({ zip, entries, manifest, isSigned });
    } catch (error) {
      zip.close();
      throw error;
    }
  }

  /** Writes all files, flushed to the disk. @throws PanelError `update.invalid` for a file that is not the released one */
  async unpack(folder: string, signal: AbortSignal, onFile: (share: number) => void): Promise<void> {
    const files = [...Object.keys(this.manifest.files), ...RELEASE_FILES.filter((name) => this.#entries.has(name))];
    let left = MAX_BYTES;
    for (const parent of new Set(files.map(dirname))) await mkdir(join(folder, parent), { recursive: true });
    for (const [index, path] of files.entries()) {
      signal.throwIfAborted();
      const { hash, bytes } = await this.#write(path, join(folder, path), left);
      left -= bytes;
      const expected = this.manifest.files[path] ?? hash;
      if (hash !== expected) throw invalidRelease(`${path} is not the released file`);
      onFile((index + 1) / files.length);
    }
  }

  close(): void {
    this.#zip.close();
  }

  async #write(path: string, target: string, left: number): Promise<{ readonly hash: string; readonly bytes: number }> {
    const entry = this.#entries.get(path) as yauzl.Entry;
    const handle = await open(target, 'wx', 0o644);
    try {
      const hash = createHash('sha256');
      let bytes = 0;
      for await (const chunk of (await readStream(this.#zip, entry)) as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > left) throw invalidRelease(`its files have more than ${MAX_BYTES} bytes`);
        hash.update(chunk);
        await handle.writeFile(chunk);
      }
      await handle.sync();
      return { hash: hash.digest('hex'), bytes };
    } catch (error) {
      throw zipFault(error);
    } finally {
      await handle.close();
    }
  }
}

async function openZip(file: string): Promise<yauzl.ZipFile> {
  try {
    return await yauzl.openPromise(file, { lazyEntries: true, autoClose: false, strictFileNames: true });
  } catch (error) {
    throw zipFault(error);
  }
}

async function readEntries(zip: yauzl.ZipFile): Promise<Map<string, yauzl.Entry>> {
  if (zip.entryCount > MAX_ENTRIES) throw invalidRelease(`it has more than ${MAX_ENTRIES} entries`);
  const entries = new Map<string, yauzl.Entry>();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  zip.on('error', (error) => reject(zipFault(error)));
  zip.on('end', resolve);
  zip.on('entry', (entry: yauzl.Entry) => {
    try {
      const path = pathOf(entry);
      if (path !== null && entries.has(path)) throw invalidRelease(`${path} is there twice`);
      if (path !== null) entries.set(path, entry);
      zip.readEntry();
    } catch (error) {
      reject(error);
    }
  });
  zip.readEntry();
  await promise;
  return entries;
}

/** Path below the top folder; null for a folder. */
function pathOf(entry: yauzl.Entry): string | null {
  const { fileName, externalFileAttributes } = entry;
  if (!fileName.startsWith(TOP)) throw invalidRelease(`${fileName} is not in the folder ${TOP}`);
  if (((externalFileAttributes >>> 16) & KIND) === LINK) throw invalidRelease(`${fileName} is a link`);
  if (!entry.canDecodeFileData()) throw invalidRelease(`${fileName} is encrypted, or packed in an unknown way`);
  return fileName.endsWith('/') ? null : fileName.slice(TOP.length);
}

function checkComplete({ files }: ReleaseManifest, entries: ReadonlyMap<string, yauzl.Entry>): void {
  for (const path of entries.keys()) {
    if (!Object.hasOwn(files, path) && !RELEASE_FILES.includes(path)) throw invalidRelease(`${path} is not part of it`);
  }
  const missing = Object.keys(files).find((path) => !entries.has(path));
  if (missing !== undefined) throw invalidRelease(`${missing} is missing`);
}

async function readSmall(zip: yauzl.ZipFile, entry: yauzl.Entry | undefined, max: number): Promise<Buffer | null> {
  if (entry === undefined) return null;
  if (entry.uncompressedSize > max) throw invalidRelease(`${entry.fileName} is too long`);
  try {
    return await buffer(await readStream(zip, entry));
  } catch (error) {
    throw zipFault(error);
  }
}

/** yauzl ends it with an error beyond the announced size. */
function readStream(zip: yauzl.ZipFile, entry: yauzl.Entry): Promise<Readable> {
  return zip.openReadStreamPromise(entry);
}

/** A fault of the disk stays one. */
function zipFault(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  const isOfDisk = typeof code === 'string' && /^(ENOSPC|EDQUOT|EIO|EROFS|EACCES|EPERM|EMFILE)$/.test(code);
  const isKnown = (error as Error).name === 'PanelError' || isOfDisk;
  return isKnown ? error : invalidRelease(`it is no ZIP that can be read: ${message}`);
}
