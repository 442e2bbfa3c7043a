import { constants } from 'node:fs';
import { mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { EntryRefused, EntryRules } from './entry-rules.ts';

const MODES = { file: 0o644, program: 0o755 } as const;
const CHUNK_BYTES = 256 * 1024;

/**
 * Copies a folder that others have written, by the rules of entries: plain files and folders alone, no link followed, no link
 * written through.
 *
 * @throws EntryRefused
 */
export async function copyFolder(from: string, target: string): Promise<void> {
  const rules = new EntryRules();
  await mkdir(target, { recursive: true, mode: MODES.program });
  const copy = async (below: string): Promise<void> => {
    for (const entry of await readdir(join(from, below), { withFileTypes: true })) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (!entry.isFile() && !entry.isDirectory()) throw new EntryRefused(path, 'is neither a file nor a folder');
      if (rules.add(path, entry.isFile() ? 'file' : 'folder') === null) continue;
      if (entry.isFile()) await copyFile(join(from, path), join(target, path), path, rules);
      else {
        await mkdir(join(target, path), { mode: MODES.program });
        await copy(path);
      }
    }
  };
  await copy('');
}

async function copyFile(from: string, target: string, path: string, rules: EntryRules): Promise<void> {
  const source = await open(from, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    const { mode } = await source.stat();
    const kept = (mode & 0o100) === 0 ? MODES.file : MODES.program;
    const copy = await open(target, 'wx', kept);
    try {
      await copy.chmod(kept);
      const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
      for (let read = await source.read(buffer); read.bytesRead > 0; read = await source.read(buffer)) {
        rules.count(path, read.bytesRead);
        await copy.writeFile(buffer.subarray(0, read.bytesRead));
      }
    } finally {
      await copy.close();
    }
  } finally {
    await source.close();
  }
}
