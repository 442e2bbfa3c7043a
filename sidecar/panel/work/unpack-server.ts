import { copyFileSync, createReadStream, lstatSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { createGunzip } from 'node:zlib';
import { Parser, type ReadEntry } from 'tar';
import xz from 'xz-decompress';
import yauzl from 'yauzl';
import { EntryRefused, EntryRules } from '../installs/entry-rules.ts';
import { PanelError } from '../panel-error.ts';

export interface UnpackInput {
  /** A folder, or an archive by its ending: `.zip`, `.tar`, `.tar.gz`, `.tar.xz`. */
  readonly source: string;
  /** Does not exist yet. */
  readonly target: string;
}

const KIND = 0o170000;
const LINK = 0o120000;
const MAX_LINK_CHARS = 1024;

/** Copies or unpacks a game server. Runs nothing. @throws PanelError `serverUpdates.archive` with the entry */
export async function unpackServer({ source, target }: UnpackInput): Promise<{ readonly files: number }> {
  const tree = new ServerTree(target);
  mkdirSync(target, { recursive: true, mode: 0o755 });
  try {
    if (lstatSync(source).isDirectory()) await tree.copy(source, '');
    else if (source.endsWith('.zip')) await readZip(source, tree);
    else await readTar(source, tree);
  } catch (error) {
    throw refusalOf(error);
  }
  tree.makeLinks();
  return { files: tree.files };
}

/** Writes entries below a folder that is its own. Links are made last, so that no entry is written through one. */
class ServerTree {
  files = 0;
  readonly #target: string;
  readonly #rules = new EntryRules();
  readonly #links = new Map<string, string>();
  readonly #written = new Set<string>();

  constructor(target: string) {
    this.#target = target;
  }

  folder(given: string): void {
    const path = this.#rules.add(given, 'folder');
    if (path !== null) mkdirSync(join(this.#target, path), { recursive: true, mode: 0o755 });
  }

  async file(given: string, content: AsyncIterable<Buffer>, isProgram: boolean): Promise<void> {
    const path = this.#rules.add(given, 'file');
    const file = path === null ? null : await this.#open(path, isProgram);
    try {
      for await (const bytes of content) {
        this.#rules.count(given, bytes.length);
        await file?.writeFile(bytes);
      }
      await file?.sync();
    } finally {
      await file?.close();
    }
    if (path !== null) this.#written.add(path);
    this.files += 1;
  }

  link(given: string, to: string): void {
    const path = this.#rules.add(given, 'file');
    if (to === '' || to.length > MAX_LINK_CHARS || to.includes('\0'))
      throw new EntryRefused(given, 'is no usable link');
    if (path !== null) this.#links.set(path, to);
  }

  /** A second name of a file that was written before. */
  twin(given: string, of: string): void {
    const path = this.#rules.add(given, 'file');
    if (!this.#written.has(of))
      throw new EntryRefused(given, 'is a second name of a file that was not there before it');
    if (path === null) return;
    mkdirSync(dirname(join(this.#target, path)), { recursive: true, mode: 0o755 });
    copyFileSync(join(this.#target, of), join(this.#target, path));
    this.#written.add(path);
    this.files += 1;
  }

  async copy(from: string, below: string): Promise<void> {
    for (const entry of readdirSync(join(from, below), { withFileTypes: true })) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      const source = join(from, path);
      if (entry.isSymbolicLink()) this.link(path, readlinkSync(source));
      else if (entry.isDirectory()) {
        this.folder(path);
        await this.copy(from, path);
      } else if (entry.isFile()) {
        await this.file(path, createReadStream(source), (lstatSync(source).mode & 0o111) !== 0);
      } else throw new EntryRefused(path, 'is neither a file nor a folder nor a link');
    }
  }

  makeLinks(): void {
    for (const [path, to] of this.#links) {
      mkdirSync(dirname(join(this.#target, path)), { recursive: true, mode: 0o755 });
      symlinkSync(to, join(this.#target, path));
    }
  }

  async #open(path: string, isProgram: boolean) {
    const file = join(this.#target, path);
    mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
    const handle = await open(file, 'wx', isProgram ? 0o755 : 0o644);
    await handle.chmod(isProgram ? 0o755 : 0o644);
    return handle;
  }
}

async function readTar(source: string, tree: ServerTree): Promise<void> {
  const parser = new Parser({ strict: true });
  // Entries in their order: the parser waits while an entry is not read.
  let work = Promise.resolve();
  const fault = Promise.withResolvers<never>();
  fault.promise.catch(() => {});
  parser.on('entry', (entry: ReadEntry) => {
    work = work.then(() => addTarEntry(entry, tree));
    work.catch(fault.reject);
  });
  const fed = (async () => {
    for await (const bytes of bytesOf(source)) {
      if (!parser.write(Buffer.from(bytes)))
        await new Promise<void>((resolve) => parser.once('drain', () => resolve()));
    }
    const ended = new Promise<void>((resolve, reject) => {
      parser.once('end', () => resolve());
      parser.once('error', reject);
    });
    parser.end();
    await ended;
    await work;
  })();
  const failed = new Promise<never>((_resolve, reject) => parser.once('error', reject));
  await Promise.race([fed, failed, fault.promise]);
}

async function addTarEntry(entry: ReadEntry, tree: ServerTree): Promise<void> {
  const path = entry.path.replace(/^(\.\/)+/, '');
  const content = entry as unknown as AsyncIterable<Buffer>;
  switch (entry.type) {
    case 'File':
    case 'OldFile':
    case 'ContiguousFile':
      return tree.file(path, content, ((entry.mode ?? 0) & 0o111) !== 0);
    case 'Directory':
      if (path !== '' && path !== '.') tree.folder(path);
      break;
    case 'SymbolicLink':
      tree.link(path, entry.linkpath ?? '');
      break;
    case 'Link':
      tree.twin(path, (entry.linkpath ?? '').replace(/^(\.\/)+/, ''));
      break;
    default:
      throw new EntryRefused(path, 'is neither a file nor a folder nor a link');
  }
  entry.resume();
}

function bytesOf(source: string): AsyncIterable<Uint8Array> {
  const file = createReadStream(source);
  if (source.endsWith('.tar.gz')) return file.pipe(createGunzip().on('error', () => {})) as AsyncIterable<Buffer>;
  if (!source.endsWith('.tar.xz')) return file;
  const packed = Readable.toWeb(file) as ReadableStream<Uint8Array>;
  return new xz.XzReadableStream(packed as never) as unknown as AsyncIterable<Uint8Array>;
}

async function readZip(source: string, tree: ServerTree): Promise<void> {
  const zip = await yauzl.openPromise(source, { lazyEntries: true, autoClose: false, strictFileNames: true });
  try {
    for await (const entry of entriesOf(zip)) {
      const { fileName, externalFileAttributes } = entry;
      const mode = externalFileAttributes >>> 16;
      if (!entry.canDecodeFileData()) throw new EntryRefused(fileName, 'is encrypted, or packed in an unknown way');
      if (fileName.endsWith('/')) tree.folder(fileName);
      else {
        const content = await zip.openReadStreamPromise(entry);
        if ((mode & KIND) === LINK) tree.link(fileName, await textOf(content));
        else await tree.file(fileName, content, (mode & 0o111) !== 0);
      }
    }
  } finally {
    zip.close();
  }
}

async function* entriesOf(zip: yauzl.ZipFile): AsyncGenerator<yauzl.Entry> {
  for (let left = zip.entryCount; left > 0; left -= 1) {
    const { promise, resolve, reject } = Promise.withResolvers<yauzl.Entry>();
    zip.once('error', reject);
    zip.once('entry', resolve);
    zip.readEntry();
    yield await promise;
    zip.off('error', reject);
  }
}

async function textOf(content: Readable): Promise<string> {
  let text = '';
  for await (const bytes of content) {
    text += String(bytes);
    if (text.length > MAX_LINK_CHARS) break;
  }
  return text;
}

/** Faults of the disk stay what they are. */
function refusalOf(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const isOfDisk = typeof code === 'string' && /^(ENOSPC|EDQUOT|EIO|EROFS|EACCES|EPERM|EMFILE)$/.test(code);
  if (isOfDisk || error instanceof PanelError) return error;
  const text = error instanceof Error ? error.message : String(error);
  return new PanelError('serverUpdates.archive', { detail: text.slice(0, 300) });
}
