import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ConfigError } from '../config/config-error.ts';
import { type FolderLock, lockFolder } from '../folder-lock.ts';

/** A server that is started again at once meets the sidecar of the one before while that still writes its queue out. */
const PATIENCE_MS = 5000;
const ASK_AGAIN_MS = 100;

/**
 * Takes the data folder for this process, until it ends in whatever way. The lock is the system's, so that one left by a
 * dead process cannot exist; the text beside it only says who holds it.
 *
 * @throws ConfigError that names the holder
 */
export async function claimFolder(folder: string, now: () => number = Date.now): Promise<FolderLock> {
  const data = join(folder, 'data');
  const holder = join(data, 'embedded.json');
  makeFolder(data, folder);
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const lock = await lockFolder(data, 'embedded.sqlite');
    if (lock !== null) {
      writeFileSync(holder, `${JSON.stringify({ pid: process.pid, since: new Date(now()).toISOString() })}\n`);
      return lock;
    }
    if (performance.now() > giveUpAt) {
      throw new ConfigError(
        `${folder} is in use by another sidecar (${describeHolder(holder)}): give each game server a folder of its own (sidecar.folder in its database.json; FXServer: set db_connector_folder), or stop the other one`,
      );
    }
    await pause(ASK_AGAIN_MS);
  }
}

function makeFolder(data: string, folder: string): void {
  try {
    mkdirSync(data, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new ConfigError(
      `sidecar.folder: expected a folder that can be written, got ${(error as NodeJS.ErrnoException).code} for ${folder}`,
    );
  }
}

function describeHolder(file: string): string {
  try {
    const { pid, since } = JSON.parse(readFileSync(file, 'utf8')) as { pid: unknown; since: unknown };
    return `process ${Number(pid)}, since ${new Date(String(since)).toISOString()}`;
  } catch {
    return 'which one, its file does not say';
  }
}
