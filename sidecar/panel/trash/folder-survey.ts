import { createHash } from 'node:crypto';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { PanelError } from '../panel-error.ts';

/** A folder with more entries than any bundle has is not looked through. */
const MAX_ENTRIES = 200_000;

export interface FolderSurvey {
  readonly files: number;
  readonly bytes: number;
  /** Stands for names, sizes and times of change: it differs after each write to a file. */
  readonly hash: string;
}

/** Looks through a folder without reading files. Links are entries, and never followed. */
export async function surveyFolder(folder: string): Promise<FolderSurvey> {
  const hash = createHash('sha256');
  const found = { files: 0, bytes: 0, entries: 0 };
  const visit = async (way: string): Promise<void> => {
    const names = (await readdir(join(folder, way))).sort();
    for (const name of names) {
      found.entries += 1;
      if (found.entries > MAX_ENTRIES) throw new PanelError('bundles.unavailable', { detail: 'it has too many files' });
      const inner = join(way, name);
      const stats = await lstat(join(folder, inner), { bigint: true });
      const target = stats.isSymbolicLink() ? await readlink(join(folder, inner)) : '';
      // A time of change cannot be set by a program, a time of modification can. Folders change with their entries.
      const facts = stats.isDirectory() ? [] : [stats.size, stats.mtimeNs, stats.ctimeNs, stats.ino].map(String);
      hash.update(`${JSON.stringify([inner, Number(stats.mode), target, ...facts])}\n`);
      if (stats.isDirectory()) await visit(inner);
      else {
        found.files += 1;
        found.bytes += Number(stats.size);
      }
    }
  };
  await visit('');
  return { files: found.files, bytes: found.bytes, hash: hash.digest('hex') };
}
