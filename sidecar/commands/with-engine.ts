import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { ApiError } from '#protocol/errors.ts';
import { ConfigError } from '../config/config-error.ts';
import type { DatabaseConfig } from '../config/database.ts';
import { DiskFullError } from '../engine/disk-full.ts';
import type { Engine } from '../engine/engine.ts';
import { openEngine } from '../engine/open.ts';
import { makeForOwner } from '../file-owner.ts';
import { makeFolder } from '../make-folder.ts';
import { namingFullDatabase } from '../moving/free-space.ts';
import { patiently, statementBounds } from '../moving/patience.ts';
import type { MoveIo } from './command-process.ts';

/** Reading and writing at once; more would not make the slower of both databases quicker. */
const CONNECTIONS = 2;
const STATEMENT_MS = 60_000;

/** Opens a database for the time of `work`. @throws ConfigError if it does not answer. */
export async function withEngine<T>(
  database: DatabaseConfig,
  io: Pick<MoveIo, 'printError'>,
  work: (engine: Engine) => Promise<T>,
): Promise<T> {
  const limits = { poolSize: CONNECTIONS, statementTimeoutMs: STATEMENT_MS };
  let isExplained = false;
  const log = logOf({
    printError(line) {
      isExplained = true;
      io.printError(line);
    },
  });
  if (database.provider === 'sqlite') makeDatabaseFile(database.file);
  const engine = await openEngine({ ...database, ...limits }, { log, now: Date.now });
  try {
    return await namingFullDatabase('Then run the same command again', async () => {
      await patiently(() => engine.ping(statementBounds())).catch((error: unknown) => {
        if (!(error instanceof ApiError) || error instanceof DiskFullError) throw error;
        const reason = isExplained ? 'the line above says why' : error.message;
        throw new ConfigError(`${databaseName(database)} does not answer: ${reason}`);
      });
      return work(engine);
    });
  } finally {
    await engine.close();
  }
}

/** For SQLite an empty file is a new database, whose log gets its owner. */
function makeDatabaseFile(file: string): void {
  makeFolder(dirname(file));
  makeForOwner(file);
}

export function logOf({ printError }: Pick<MoveIo, 'printError'>) {
  return (level: string, message: string, fields: object): void => {
    if (level !== 'info') printError(eventLine(message, fields));
  };
}

/** A log entry of an engine as a line for people; its `trouble` is for programs. */
export function eventLine(message: string, fields: object): string {
  const details = Object.entries(fields).flatMap(([name, value]) => (name === 'trouble' ? [] : [String(value)]));
  return [message, ...details].join(': ');
}

/** Opening a file that is not there would make it. @throws ConfigError */
export function checkThere(database: DatabaseConfig): void {
  if (database.provider === 'sqlite' && !existsSync(database.file)) {
    throw new ConfigError(
      `there is no database ${database.file}: a start of the sidecar makes it; else check database.file`,
    );
  }
}

/** A database for the owner's eyes: where it is, without account and password. */
export function databaseName(database: DatabaseConfig): string {
  if (database.provider === 'sqlite') return `sqlite ${database.file}`;
  return `${database.provider} ${placeOfUrl(database.url)}`;
}

/** Hosts and path of a URL that may name several hosts, as those of MongoDB do. */
export function placeOfUrl(url: string): string {
  // A password may hold any of @ / ? # without an escape.
  const rest = url.replace(/^[a-z+]+:\/\//i, '').replace(/^.*@/s, '');
  return rest.replace(/[?#].*$/s, '');
}
