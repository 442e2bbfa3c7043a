import { createHash } from 'node:crypto';
import { createReadStream, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from '../../make-folder.ts';
import { namingFullDisk, needSpace } from '../../moving/free-space.ts';
import { MoveRefused } from '../../moving/report.ts';
import { NODE_DISK } from '../../write-behind/journal/disk.ts';
import type { KeptBackup } from '../backup-folder.ts';
import { MANIFEST, type Manifest, parseManifest } from '../manifest.ts';
import { readTar, type TarEntry, type TarFile, tarOf } from './tar-stream.ts';

/** Secrets of the configuration, in encrypted archives only. */
export const SECRETS = 'secrets.json';

const MOST_MANIFEST_BYTES = 64 * 2 ** 20;
const MOST_SECRETS_BYTES = 2 ** 22;
const PARTIAL = '.partial';

/** A local backup as the tar that leaves the machine: below a folder of its name, the manifest first. */
export function archiveOf(
  { name, path, manifest, time }: KeptBackup,
  secrets: string | null,
): { readonly content: AsyncIterable<Uint8Array>; readonly bytes: number } {
  const files: TarFile[] = [MANIFEST, ...manifest.files.map((file) => file.name)].map((file) => ({
    path: `${name}/${file}`,
    bytes: statSync(join(path, file)).size,
    content: () => createReadStream(join(path, file), { highWaterMark: 2 ** 18 }),
  }));
  if (secrets !== null) {
    const text = Buffer.from(secrets);
    files.push({ path: `${name}/${SECRETS}`, bytes: text.length, content: () => [text] as never });
  }
  const bytes = files.reduce((sum, file) => sum + file.bytes + 1024, 1024);
  return { content: tarOf(files, new Date(time)), bytes };
}

/**
 * Writes the backup of a tar into `folder`, which appears when everything is there and is what the manifest says. What an
 * earlier try has left is removed.
 * @throws MoveRefused if it is no whole backup, holds anything else, or does not fit on the disk
 */
export async function unpackArchive(content: AsyncIterable<Uint8Array>, folder: string): Promise<Manifest> {
  const partial = `${folder}${PARTIAL}`;
  rmSync(partial, { recursive: true, force: true });
  makeFolder(partial);
  try {
    const manifest = await namingFullDisk({ folder: dirname(folder) }, () => unpackInto(content, partial));
    await NODE_DISK.flushFolder(partial);
    renameSync(partial, folder);
    await NODE_DISK.flushFolder(dirname(folder));
    return manifest;
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw error;
  }
}

async function unpackInto(content: AsyncIterable<Uint8Array>, folder: string): Promise<Manifest> {
  let manifest: Manifest | null = null;
  const missing = new Set<string>();
  for await (const entry of readTar(content)) {
    const name = basename(entry.path);
    if (existsSync(join(folder, name))) throw new MoveRefused(`the backup holds ${name} twice`);
    if (manifest === null) {
      manifest = await unpackManifest(entry, name, folder);
      for (const file of manifest.files) missing.add(file.name);
    } else if (name === SECRETS && entry.bytes <= MOST_SECRETS_BYTES) await unpackFile(entry, join(folder, name));
    else await unpackListed(entry, manifest, join(folder, name));
    missing.delete(name);
  }
  if (manifest === null || missing.size > 0) {
    throw new MoveRefused(
      `the backup is not whole: it lacks ${manifest === null ? MANIFEST : [...missing].join(', ')}`,
    );
  }
  return manifest;
}

async function unpackManifest(entry: TarEntry, name: string, folder: string): Promise<Manifest> {
  if (name !== MANIFEST || entry.bytes > MOST_MANIFEST_BYTES) {
    throw new MoveRefused(`this is no backup: it does not begin with its ${MANIFEST}`);
  }
  const parts: Uint8Array[] = [];
  for await (const part of entry.content) parts.push(part);
  const manifest = parseManifest(Buffer.concat(parts).toString(), dirname(entry.path));
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  needSpace(dirname(folder), bytes, 'the unpacked backup');
  await unpackFile({ ...entry, content: iterate(parts) }, join(folder, name));
  return manifest;
}

/** Sizes are judged before a byte is written. */
async function unpackListed(entry: TarEntry, { files }: Manifest, path: string): Promise<void> {
  const listed = files.find(({ name }) => name === basename(path));
  if (listed === undefined)
    throw new MoveRefused(`the backup holds ${basename(path)}, which its manifest does not know`);
  const isSame = listed.bytes === entry.bytes && (await unpackFile(entry, path)) === listed.sha256;
  if (!isSame) throw new MoveRefused(`the backup is damaged: ${listed.name} is not what was written`);
}

/** Returns its SHA-256. */
async function unpackFile({ content }: Pick<TarEntry, 'content'>, path: string): Promise<string> {
  const hash = createHash('sha256');
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of content) {
      hash.update(chunk);
      await file.writeFile(chunk);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return hash.digest('hex');
}

async function* iterate<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
