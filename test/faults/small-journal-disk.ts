import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { holdSmallDisk } from '#scripts/servers/small-disk.ts';
import { testFolder } from '../support/test-folder.ts';
import { journalOf } from './disk-world.ts';

const MEGABYTES = 24;

/** A folder for a sidecar whose journal lies on a disk of its own, in memory, which only its processes see. */
export interface SmallDisk {
  readonly folder: string;
  /** The command by which a process sees it. */
  readonly wrapper: readonly string[];
  /** The journal's folder as that process sees it, for us. */
  seenFrom(pid: number): string;
  /** The journal's folder for this process, until the disk is closed. */
  readonly seen: string;
  close(): void;
}

/** For cases that run only if `whyNoSmallDisk` knows no reason. */
export async function openSmallDisk(): Promise<SmallDisk> {
  const folder = testFolder();
  const journal = journalOf(folder);
  mkdirSync(join(folder, 'data'), { mode: 0o700 });
  mkdirSync(journal, { mode: 0o700 });
  const disk = await holdSmallDisk(journal, MEGABYTES);
  return {
    folder,
    wrapper: disk.enter,
    seen: disk.outside(journal),
    seenFrom: (pid) => `/proc/${pid}/root${journal}`,
    close: () => disk.close(),
  };
}
