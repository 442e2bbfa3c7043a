import { join } from 'node:path';
import type { Disk, DiskFile } from './disk.ts';
import { KeyLog } from './key-file.ts';
import { segmentName } from './segment-header.ts';
import { writeAll } from './whole-file.ts';

const ZEROS = Buffer.alloc(256 * 1024);

/** One file of the journal. */
export class Segment {
  readonly number: number;
  readonly path: string;
  /** Of the file. */
  readonly bytes: number;
  /** Where its durable groups end; 0 before it has a header. */
  end = 0;
  groups = 0;
  /** Entries that are not settled. */
  unsettled = 0;
  /** Nothing behind `end` counts, which is durable somewhere else. */
  isSealed = false;
  /** All of it is settled, and the state does not name it any more. */
  isGoing = false;
  /** Bytes of acknowledged groups that cannot be read: the file is kept when its entries are settled. */
  lostBytes = 0;
  readonly keys = new KeyLog();
  /** Open for writing; only the newest one is. */
  file: DiskFile | null;

  constructor(folder: string, number: number, bytes: number, file: DiskFile | null) {
    this.number = number;
    this.path = join(folder, segmentName(number));
    this.bytes = bytes;
    this.file = file;
  }

  /** Nothing is written to it any more. A file that cannot be closed is as good as closed. */
  async closeFile(): Promise<void> {
    const { file } = this;
    this.file = null;
    await file?.close().catch(() => {});
  }
}

/** A file of zeros, durable with its name: a flush of what is written into it later has nothing else to do. */
export async function prepareSegment(disk: Disk, folder: string, number: number, bytes: number): Promise<Segment> {
  const path = join(folder, segmentName(number));
  const file = await disk.open(path, 'create');
  try {
    for (let at = 0; at < bytes; at += ZEROS.length) {
      await writeAll(file, ZEROS.subarray(0, Math.min(ZEROS.length, bytes - at)), at);
    }
    await file.flush();
    await disk.flushFolder(folder);
    return new Segment(folder, number, bytes, file);
  } catch (error) {
    await file.close().catch(() => {});
    // Where the disk is full, what was made of it takes the place of something else.
    await disk.remove(path).catch(() => {});
    throw error;
  }
}
