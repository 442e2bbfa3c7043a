import { renameSync } from 'node:fs';
import { basename, join } from 'node:path';
import { InstallRefused } from './install-refused.ts';
import { isThere, type OwnFolder } from './own-folder.ts';
import { stageFolder } from './stage-folder.ts';

/** A folder of ours on its way into the server's. */
export interface Delivery {
  readonly name: string;
  /** Whole beside its place. Null: a good one was there already, and stays. */
  readonly staged: string | null;
  /** Where it belongs. */
  readonly target: string;
}

/**
 * Makes `source` ready beside `folder/NAME`, which nothing reads yet. What is there already is the owner's, and stays.
 *
 * @param mark a file by which a whole one is known
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

/** At one stroke: a server that starts meanwhile sees all of it or nothing. */
export function deliver({ staged, target }: Delivery): void {
  if (staged !== null) renameSync(staged, target);
}
