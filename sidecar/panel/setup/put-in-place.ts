import { renameSync } from 'node:fs';
import { copyFile, mkdir, open, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { InstallRefused } from './install-refused.ts';
import { isThere, type OwnFolder } from './own-folder.ts';

/** A shipped folder on its way into the server's folder. */
export interface Delivery {
  readonly name: string;
  /** Complete copy beside the target; null if a valid folder exists, which stays. */
  readonly staged: string | null;
  /** Final path. */
  readonly target: string;
}

/**
 * Copies `source` beside `folder/NAME`, where no server reads it. An existing folder is the owner's and stays.
 *
 * @param mark file that a complete folder contains
 */
export async function prepare(
  own: OwnFolder,
  source: string,
  folder: string,
  mark: string,
  signal: AbortSignal,
): Promise<Delivery> {
  const name = basename(source);
  const target = join(folder, name);
  if (isThere(target)) {
    if (!isThere(join(target, mark))) {
      throw new InstallRefused(`${target} is there already and has no ${mark}; move it away, then install again`);
    }
    return { name, staged: null, target };
  }
  const staged = own.stagingFor(target, name);
  await stageFolder(source, staged, signal);
  return { name, staged, target };
}

/** A single rename: a server that starts meanwhile sees all of the folder or nothing. */
export function deliver({ staged, target }: Delivery): void {
  if (staged !== null) renameSync(staged, target);
}

/** Copies a folder and flushes each file, so that the folder is complete on disk before it is put in place. */
async function stageFolder(from: string, to: string, signal: AbortSignal): Promise<void> {
  await mkdir(to, { recursive: true });
  const entries = await readdir(from, { withFileTypes: true });
  for (const entry of entries) {
    signal.throwIfAborted();
    if (entry.isDirectory()) await stageFolder(join(from, entry.name), join(to, entry.name), signal);
    else if (entry.isFile()) await stageFile(join(from, entry.name), join(to, entry.name));
  }
}

async function stageFile(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  const file = await open(to, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
