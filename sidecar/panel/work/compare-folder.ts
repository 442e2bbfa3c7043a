import { join } from 'node:path';
import { entriesBelow, hashFile, unpackHashes } from './file-list.ts';
import type { Report } from './task.ts';

export interface CompareInput {
  readonly folder: string;
  /** Files as they were put in place. */
  readonly files: Uint8Array;
}

/** Files that were changed or added since, by name. A removed file is none: nothing of it can be lost. */
export async function compareFolder({ folder, files }: CompareInput, report: Report): Promise<string[]> {
  const known = unpackHashes(files);
  const edited: string[] = [];
  let seen = 0;
  for (const { path, kind } of entriesBelow(folder)) {
    if (kind === 'folder') continue;
    const hash = known.get(path);
    if (kind === 'other' || hash === undefined || hash !== hashFile(join(folder, path)).hash) edited.push(path);
    seen += 1;
    if (seen % 200 === 0) report(Math.min(1, seen / known.size));
  }
  return edited.sort();
}
