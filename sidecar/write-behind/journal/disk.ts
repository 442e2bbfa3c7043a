import type { FolderLock } from '#sidecar/folder-lock.ts';

export type { FolderLock };

/** What the journal needs of a disk, so that a simulation can have its own. Failures are errors with a `code`. */
export interface Disk {
  /** Made with its parents, readable by its owner only, where it is missing. */
  makeFolder(path: string): Promise<void>;
  /** Names of the files in the folder, in any order. */
  list(folder: string): Promise<string[]>;
  /** `create`: a new file, for its owner only, an error where there is one. `write` and `read`: one that exists. */
  open(path: string, mode: 'create' | 'write' | 'read'): Promise<DiskFile>;
  rename(from: string, to: string): Promise<void>;
  /** One that is gone already is as good. */
  remove(path: string): Promise<void>;
  /** Names that were made, renamed or removed in the folder are durable when this resolves. */
  flushFolder(folder: string): Promise<void>;
  /**
   * Keeps every other process out of the folder until it is given back, or the process ends in whatever way; null where
   * another one has it.
   */
  lock(folder: string): Promise<FolderLock | null>;
}

export interface DiskFile {
  /** How many of the bytes were written: at least one, maybe not all. */
  write(bytes: Uint8Array, position: number): Promise<number>;
  /** How many bytes were read; fewer than asked for only at the end of the file. */
  read(into: Uint8Array, position: number): Promise<number>;
  size(): Promise<number>;
  /** What was written, and the size of the file, is durable when this resolves. After a failure nobody knows what is. */
  flush(): Promise<void>;
  close(): Promise<void>;
}
