import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { giveFolderToOwner } from '../file-owner.ts';
import { makeFolder } from '../make-folder.ts';
import { MoveBusy } from '../moving/report.ts';
import { NODE_DISK } from '../write-behind/journal/disk.ts';
import { MANIFEST, type Manifest, readManifest } from './manifest.ts';

/** Suffix of a folder that is being written or deleted: its contents are no backup. */
const PARTIAL = '.partial';
const NAME = /^backup-\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z(-\d+)?$/;

const TIME_END = 'backup-2026-01-01T00-00-00Z'.length;

/** A complete backup. */
export interface KeptBackup {
  readonly name: string;
  readonly path: string;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly manifest: Manifest;
}

/**
 * The newest complete backup; null for none. Reads no other.
 *
 * @param now epoch milliseconds: later ones were made by a clock that was ahead
 */
export function newestBackup(folder: string, now = Number.POSITIVE_INFINITY): KeptBackup | null {
  if (!existsSync(folder)) return null;
  const names = readdirSync(folder).filter((name) => NAME.test(name));
  const newestFirst = names.toSorted(
    (a, b) => b.slice(0, TIME_END).localeCompare(a.slice(0, TIME_END)) || b.length - a.length || b.localeCompare(a),
  );
  for (const name of newestFirst) {
    const found = keptBackup(join(folder, name));
    if (found !== null && found.time <= now) return found;
  }
  return null;
}

/** Null if it is not complete. */
export function keptBackup(path: string): KeptBackup | null {
  const manifest = existsSync(join(path, MANIFEST)) ? manifestOf(path) : null;
  return manifest === null ? null : { name: basename(path), path, time: Date.parse(manifest.time), manifest };
}

/** Complete ones, oldest first. Folders that cannot be read as one are passed by. */
export function listBackups(folder: string): KeptBackup[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => NAME.test(name));
  const backups = names.flatMap((name) => keptBackup(join(folder, name)) ?? []);
  return backups.toSorted((a, b) => a.time - b.time || a.name.localeCompare(b.name));
}

function manifestOf(path: string): Manifest | null {
  try {
    return readManifest(path);
  } catch {
    return null;
  }
}

/**
 * Runs `fill` in a new folder, which gets its name only when that has ended well: whatever ends it before leaves nothing
 * that looks like a backup. One at a time in a folder; what earlier ones have left is removed. Returns the path.
 */
export async function inNewBackup(folder: string, now: number, fill: (path: string) => Promise<void>): Promise<string> {
  return withBackupFolder(folder, async () => {
    removePartial(folder);
    const path = freeName(folder, now);
    const partial = `${path}${PARTIAL}`;
    mkdirSync(partial, { mode: 0o700 });
    try {
      await fill(partial);
      giveFolderToOwner(partial);
      await NODE_DISK.flushFolder(partial);
      renameSync(partial, path);
      await NODE_DISK.flushFolder(folder);
    } finally {
      rmSync(partial, { recursive: true, force: true });
    }
    return path;
  });
}

/** Runs `work` while no other process writes, sends or deletes backups of the folder. @throws MoveBusy if one does */
export async function withBackupFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  makeFolder(folder);
  const lock = await NODE_DISK.lock(folder);
  if (lock === null) throw new MoveBusy(`another backup into ${folder} is running`);
  try {
    return await work();
  } finally {
    lock.release();
  }
}

/** Deletes the oldest complete ones beyond `keep`, but never `made`. Returns their names. */
export function removeOld(folder: string, keep: number, made: string): string[] {
  const old = listBackups(folder)
    .slice(0, -keep)
    .filter(({ path }) => path !== made);
  for (const { path } of old) {
    renameSync(path, `${path}${PARTIAL}`);
    rmSync(`${path}${PARTIAL}`, { recursive: true, force: true });
  }
  return old.map(({ name }) => name);
}

function removePartial(folder: string): void {
  for (const name of readdirSync(folder).filter(
    (each) => each.endsWith(PARTIAL) && NAME.test(each.slice(0, -PARTIAL.length)),
  )) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function freeName(folder: string, now: number): string {
  const name = `backup-${new Date(now).toISOString().slice(0, 19).replaceAll(':', '-')}Z`;
  for (let i = 1; ; i += 1) {
    const path = join(folder, i === 1 ? name : `${name}-${i}`);
    if (!existsSync(path)) return path;
  }
}
