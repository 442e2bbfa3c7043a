import { dirname } from 'node:path';
import type { Disk, DiskFile } from './disk.ts';

/** Goes on where the disk takes a part only; an error where it takes nothing. */
export async function writeAll(file: DiskFile, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const written = await file.write(done === 0 ? bytes : bytes.subarray(done), position + done);
    if (written <= 0) throw new Error('the disk takes no more bytes');
    done += written;
  }
}

/** Fewer bytes than asked for where the file ends before. */
export async function readAt(file: DiskFile, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const read = await file.read(bytes.subarray(done), position + done);
    if (read === 0) break;
    done += read;
  }
  return bytes.subarray(0, done);
}

export async function readWhole(disk: Disk, path: string): Promise<Buffer> {
  const file = await disk.open(path, 'read');
  try {
    return await readAt(file, 0, await file.size());
  } finally {
    await file.close();
  }
}

/** There as a whole or not at all, whatever happens in between. */
export async function writeWhole(disk: Disk, path: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${path}.tmp`;
  await disk.remove(temporary);
  const file = await disk.open(temporary, 'create');
  try {
    await writeAll(file, bytes, 0);
    await file.flush();
  } finally {
    await file.close();
  }
  await disk.rename(temporary, path);
  await disk.flushFolder(dirname(path));
}
