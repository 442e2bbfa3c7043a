import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { createGunzip } from 'node:zlib';
import { Parser, type ReadEntry } from 'tar';
import xz from 'xz-decompress';
import { EntryRefused } from '../installs/entry-rules.ts';
import type { ServerTree } from './server-tree.ts';

const SPARSE = 'SparseFile';
/** Name that GNU tar gives a sparse file in the form `posix`, with a map of its holes as the content. */
const SPARSE_NAME = /(^|\/)GNUSparseFile\.\d+\//;

/** @param source its ending is `.tar`, `.tar.gz` or `.tar.xz` @throws EntryRefused; Error of the parser */
export async function readServerTar(source: string, tree: ServerTree): Promise<void> {
  const parser = new Parser({ strict: true });
  // Entries in their order: the parser waits while an entry is not read.
  let work = Promise.resolve();
  let hasEnd = false;
  const fault = Promise.withResolvers<never>();
  fault.promise.catch(() => {});
  parser.on('entry', (entry: ReadEntry) => {
    work = work.then(() => addEntry(entry, tree));
    work.catch(fault.reject);
  });
  // The parser leaves out what it does not know; a server without that file would not say why it fails.
  parser.on('ignoredEntry', ({ path, type }: ReadEntry) => fault.reject(new EntryRefused(path, faultOf(type))));
  parser.on('eof', () => {
    hasEnd = true;
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
    // Cut off between two entries, it would be a smaller archive.
    if (!hasEnd) throw new Error('the archive has no end: it was cut off');
  })();
  const failed = new Promise<never>((_resolve, reject) => parser.once('error', reject));
  await Promise.race([fed, failed, fault.promise]);
}

async function addEntry(entry: ReadEntry, tree: ServerTree): Promise<void> {
  const path = entry.path.replace(/^(\.\/)+/, '');
  switch (entry.type) {
    case 'File':
    case 'OldFile':
    case 'ContiguousFile':
      if (SPARSE_NAME.test(path)) throw new EntryRefused(path, faultOf(SPARSE));
      return tree.file(path, ((entry.mode ?? 0) & 0o111) !== 0, async (write) => {
        for await (const bytes of entry as unknown as AsyncIterable<Buffer>) write(bytes);
      });
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
      throw new EntryRefused(path, faultOf(entry.type));
  }
  entry.resume();
}

function faultOf(type: string): string {
  if (type === SPARSE) return 'is a sparse file; pack the archive again without the option --sparse';
  return 'is neither a file nor a folder nor a link';
}

function bytesOf(source: string): AsyncIterable<Uint8Array> {
  const file = createReadStream(source);
  if (source.endsWith('.tar.gz')) return file.pipe(createGunzip().on('error', () => {})) as AsyncIterable<Buffer>;
  if (!source.endsWith('.tar.xz')) return file;
  const packed = Readable.toWeb(file) as ReadableStream<Uint8Array>;
  return new xz.XzReadableStream(packed as never) as unknown as AsyncIterable<Uint8Array>;
}
