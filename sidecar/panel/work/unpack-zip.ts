import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { NEW_FILE, writeAll } from './new-file.ts';
import type { Report } from './task.ts';
import { folderOf } from './zip-bundles.ts';
import { readContent } from './zip-content.ts';
import { listZip } from './zip-entries.ts';

export interface UnpackInput {
  readonly file: string;
  /** Folder of the archive → new folder on the disk, whose parent exists. */
  readonly targets: ReadonlyMap<string, string>;
}

/** Unpacks folders of an archive into new folders, by the same judge as its inspection. */
export async function unpackZip({ file, targets }: UnpackInput, report: Report): Promise<void> {
  const { files, rules } = await listZip(file);
  const folders = new Set(targets.keys());
  for (const target of targets.values()) mkdirSync(target, { mode: 0o755 });
  const descriptor = openSync(file, 'r');
  try {
    for (const [index, entry] of files.entries()) {
      const from = folderOf(entry.path, folders);
      const target = from === undefined ? undefined : targets.get(from);
      if (from === undefined || target === undefined) continue;
      const path = join(target, from === '' ? entry.path : entry.path.slice(from.length + 1));
      mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
      const out = openSync(path, NEW_FILE, entry.isProgram ? 0o755 : 0o644);
      try {
        await readContent({ path: file, descriptor }, entry, rules, (piece) => writeAll(out, piece));
      } finally {
        closeSync(out);
      }
      if (index % 200 === 0) report(index / files.length);
    }
  } finally {
    closeSync(descriptor);
  }
}
