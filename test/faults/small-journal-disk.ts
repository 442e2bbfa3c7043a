import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestContext } from 'vitest';
import { isRoot } from '#scripts/servers/private-command.ts';
import { testFolder } from '../support/test-folder.ts';
import { journalOf } from './disk-world.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MEGABYTES = 24;
/** $0 the journal's folder. Lives as long as its standard input. */
const HOLD = `mount -t tmpfs -o size=${MEGABYTES}m,mode=0700 tmpfs "$0" && echo mounted && exec cat`;

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

export async function openSmallDisk(context: TestContext): Promise<SmallDisk> {
  if (process.platform !== 'linux' || !isRoot()) context.skip('a disk of a given size needs root on Linux');
  const folder = testFolder();
  const journal = journalOf(folder);
  mkdirSync(join(folder, 'data'), { mode: 0o700 });
  mkdirSync(journal, { mode: 0o700 });
  const holder = spawn('unshare', ['--mount', 'sh', '-c', HOLD, journal], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(holder.stdout, 'data');
  // Another view of the disks begins at their root.
  const seenFrom = (pid: number | undefined) => `/proc/${pid}/root${journal}`;
  const enter = ['nsenter', `--mount=/proc/${holder.pid}/ns/mnt`, 'sh', '-c', 'cd "$0" && exec "$@"', ROOT];
  return {
    folder,
    wrapper: enter,
    seenFrom,
    seen: seenFrom(holder.pid),
    close: () => holder.stdin.end(),
  };
}
