import { copyFile, mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Copies a folder of ours file by file, each on the disk before the next, so that it is whole once it is put in place. */
export async function stageFolder(from: string, to: string, signal: AbortSignal): Promise<void> {
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
