import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { RemoteConfig } from '../../config/backup-remote.ts';
import { replaceFile } from '../../config/new-file.ts';
import { makeFolder } from '../../make-folder.ts';
import { MoveRefused } from '../../moving/report.ts';
import { NODE_DISK } from '../../write-behind/journal/disk.ts';
import { openRemote } from '../remote/open-remote.ts';
import { LITESTREAM_FOLDER, litestreamConfig, litestreamEnvironment } from './litestream-config.ts';
import { placeDatabase, settleDatabase } from './place-database.ts';

export interface LitestreamRestore {
  readonly program: string;
  /** File of the database to make. */
  readonly database: string;
  readonly dataFolder: string;
  /** Folder of the journal: no sidecar may run with it. */
  readonly journal: string;
  readonly remote: RemoteConfig;
  /** ID8 that the owner names; null for the only one. */
  readonly installation: string | null;
  /** Epoch milliseconds; null for the newest state. */
  readonly at: number | null;
  /** Puts an existing file aside. */
  readonly replace: boolean;
  /** Path of sidecar.json, for errors. */
  readonly configFile: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/**
 * Makes the database file of Litestream's copy: a whole and sound one, or none. No sidecar may run meanwhile.
 * @throws MoveRefused and others with one line
 */
export async function restoreLitestream(options: LitestreamRestore): Promise<void> {
  const { database, journal, replace } = options;
  if (existsSync(database) && !replace) {
    throw new MoveRefused(
      `there is a database ${database} already; nothing was changed. With --replace it is put aside`,
    );
  }
  // A sidecar without queued writes has no journal, and one that makes it now would have to make the database too.
  const lock = existsSync(journal) ? await NODE_DISK.lock(journal) : { release: () => undefined };
  if (lock === null) throw new MoveRefused(`a sidecar is running with the journal ${journal}: stop it first`);
  try {
    settleDatabase(database);
    await restoreStopped(options);
  } finally {
    lock.release();
  }
}

async function restoreStopped(options: LitestreamRestore): Promise<void> {
  const { database, dataFolder, say } = options;
  const installation = await installationOf(options);
  makeFolder(dataFolder);
  const scratch = join(dataFolder, 'litestream-restore');
  // Left by a restore that was killed.
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { mode: 0o700 });
  try {
    const file = join(scratch, 'database.sqlite');
    const config = join(scratch, 'litestream.yml');
    const places = { database: file, remote: options.remote, installation, socket: null };
    replaceFile(config, litestreamConfig(places), 0o600);
    say(`restores the copy of ${installation} by ${options.program}`);
    await runLitestream(config, file, options);
    checkSound(file);
    await placeDatabase(file, database, say);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function installationOf(options: LitestreamRestore): Promise<string> {
  const { remote, installation, configFile, environment, signal } = options;
  const store = await openRemote(remote, configFile, environment);
  try {
    const folders = await store.listFolders(signal);
    const found = folders.flatMap((name) =>
      name.startsWith(LITESTREAM_FOLDER) ? [name.slice(LITESTREAM_FOLDER.length)] : [],
    );
    const wanted = installation ?? (found.length === 1 ? found[0] : undefined);
    if (wanted !== undefined && found.includes(wanted)) return wanted;
    if (found.length === 0) throw new MoveRefused(`${store.place} has no copy of Litestream`);
    throw new MoveRefused(`there are copies of ${found.join(', ')}: choose one with --installation`);
  } finally {
    store.close();
  }
}

async function runLitestream(config: string, file: string, options: LitestreamRestore): Promise<void> {
  const { program, at, configFile, environment, remote, signal } = options;
  const time = at === null ? [] : ['-timestamp', new Date(at).toISOString()];
  const env = litestreamEnvironment(remote, configFile, environment);
  const args = ['restore', '-config', config, ...time, '-o', file, file];
  const child = spawn(program, args, { env, signal, stdio: ['ignore', 'ignore', 'pipe'] });
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    words = `${words}${chunk}`.slice(-2000);
  });
  const { promise, resolve, reject } = Promise.withResolvers<number | string>();
  child.once('error', reject);
  child.once('close', (code, killedBy) => resolve(code ?? `${killedBy}`));
  const code = await promise.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new MoveRefused(`${program} is not installed here (backup.continuous.program)`);
    throw error;
  });
  if (code === 0 && existsSync(file)) return;
  throw new MoveRefused(`${program} has restored nothing: ${words.trim().split('\n').at(-1) ?? code}`);
}

function checkSound(file: string): void {
  const database = new Sqlite(file, { fileMustExist: true });
  try {
    const found = database.pragma('integrity_check(1)', { simple: true });
    if (found !== 'ok') throw new MoveRefused(`the restored database is damaged (${String(found)}); try --at`);
  } finally {
    database.close();
  }
}
