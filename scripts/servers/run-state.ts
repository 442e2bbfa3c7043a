// State of a supervisor, in a file of the user's cache, so that a later run can find it and end servers that were left.
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { cacheFolder } from './cache-folder.ts';
import type { EngineName, ServerUrls } from './engine.ts';
import { MEMORY, memoryFolder } from './memory-folder.ts';
import { isAlive, type ProcessMark, signalFamily } from './process-table.ts';

/** The part that is shown and handed to tests. Plain JSON: it also travels to the workers of a test runner. */
export interface ServersState {
  readonly supervisor: ProcessMark;
  /** Everything that the run writes: data, logs, sockets. */
  readonly folder: string;
  readonly servers: Partial<Record<EngineName, ServerUrls & { readonly isOurs: boolean }>>;
  /** Why an engine is not there. */
  readonly missing: Partial<Record<EngineName, string>>;
}

export interface StoredRun extends ServersState {
  readonly processes: readonly ProcessMark[];
  /** Started from the command line, to stay until it is told to stop. */
  readonly isStanding: boolean;
}

const FOLDER_PREFIX = 'test-servers-';

/** @param isDurable whether the servers are to wait for a disk */
export const folderTemplate = (isDurable: boolean): string =>
  join(isDurable ? tmpdir() : (memoryFolder() ?? tmpdir()), FOLDER_PREFIX);

export const controlSocket = (folder: string): string => join(folder, 'control.sock');

function runFile(supervisor: ProcessMark): string {
  return join(cacheFolder('runs'), `${supervisor.pid}.json`);
}

/** Atomic, and readable by the user alone: it holds passwords. */
export function writeRun(run: StoredRun): void {
  const file = runFile(run.supervisor);
  writeFileSync(`${file}.new`, JSON.stringify(run), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

export function forgetRun(run: ServersState): void {
  // A state file that another program wrote must not get another folder removed.
  const isOurs = [tmpdir(), MEMORY].includes(dirname(run.folder)) && basename(run.folder).startsWith(FOLDER_PREFIX);
  if (isOurs) rmSync(run.folder, { recursive: true, force: true });
  rmSync(runFile(run.supervisor), { force: true });
}

export function readRuns(): StoredRun[] {
  const folder = cacheFolder('runs');
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return files.flatMap((name) => {
    try {
      return [JSON.parse(readFileSync(join(folder, name), 'utf8')) as StoredRun];
    } catch {
      // Ended meanwhile.
      return [];
    }
  });
}

/** Ends what dead supervisors left behind: processes that are still the ones they started, and their folders. */
export function endStaleRuns(): void {
  for (const run of readRuns()) {
    if (isAlive(run.supervisor)) continue;
    for (const mark of run.processes) if (isAlive(mark)) signalFamily(mark.pid, 'SIGKILL');
    forgetRun(run);
  }
}
