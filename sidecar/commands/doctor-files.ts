import { accessSync, constants, existsSync, type Stats, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { KeyOfFile } from '../config/config-schema.ts';
import type { SidecarConfig } from '../config/load-config.ts';
import { isOwners } from '../file-owner.ts';
import { grouped } from '../moving/report.ts';
import { NODE_DISK } from '../write-behind/journal/disk.ts';
import { findJournalId } from '../write-behind/journal/state-file.ts';

/** Result of `doctor` for one thing. No secret ever stands in it. */
export interface Finding {
  /** `fail`: the sidecar cannot serve, or data are in danger. */
  readonly verdict: 'ok' | 'warn' | 'fail';
  readonly what: string;
  readonly found: string;
  /** Advice for the owner. */
  readonly advice?: string;
}

const MEGABYTE = 1_000_000;
const LITTLE_SPACE = 1000 * MEGABYTE;
const NO_SPACE = 100 * MEGABYTE;

/** Secrets are their owner's alone, and what the sidecar writes is its own. */
export function* fileFindings(config: SidecarConfig, keys: readonly KeyOfFile[]): Generator<Finding> {
  const secrets = keys.flatMap((key) => [key.secretFile, key.previousSecretFile]).filter((path) => path !== undefined);
  const paths = secrets.map((path) => resolve(config.folder, path));
  const found: Finding[] = [];
  for (const path of new Set(paths)) {
    if (existsSync(path)) found.push(...privateFinding(path));
    else
      found.push({
        verdict: 'warn',
        what: 'secrets',
        found: `${path} is not there`,
        advice: 'the next start makes a new one; restore it if game servers have it',
      });
  }
  for (const path of ownersFiles(config)) if (existsSync(path)) found.push(...privateFinding(path));
  if (existsSync(config.dataFolder)) found.push(...ownFinding(config.dataFolder));
  const { folder } = config.backup;
  if (existsSync(folder)) found.push(...ownFindings(folder, statSync(folder)));
  yield* found.length > 0
    ? found
    : [
        {
          verdict: 'ok',
          what: 'files',
          found:
            process.platform === 'win32'
              ? `the secrets of ${counted(keys.length)} are there; who can read them is not checked on Windows`
              : `the secrets of ${counted(keys.length)} and the data are readable by their owner only`,
        },
      ];
}

/** Files of secrets that the owner has made, and no start makes. */
function ownersFiles({ api, backup: { remote } }: SidecarConfig): string[] {
  const keys = remote?.type === 's3' ? [remote.accessKey, remote.secretKey] : [];
  return [...(api.tls === null ? [] : [api.tls.keyFile]), ...keys.flatMap((key) => ('file' in key ? [key.file] : []))];
}

function counted(keys: number): string {
  return keys === 1 ? 'one key' : `${keys} keys`;
}

/** A file that its owner alone should read. */
export function privateFinding(path: string): Finding[] {
  const stats = statSync(path);
  if (process.platform === 'win32') return [];
  const mode = (stats.mode & 0o777).toString(8).padStart(4, '0');
  if ((stats.mode & 0o077) !== 0) {
    return [
      {
        verdict: 'warn',
        what: 'secrets',
        found: `${path} has mode ${mode}: others can read it`,
        advice: `chmod 600 ${path}`,
      },
    ];
  }
  return ownFindings(path, stats);
}

function ownFinding(path: string): Finding[] {
  const stats = statSync(path);
  const isOpen = process.platform !== 'win32' && (stats.mode & 0o007) !== 0;
  if (isOpen)
    return [
      {
        verdict: 'warn',
        what: 'files',
        found: `every user of this machine can look into ${path}`,
        advice: `chmod 700 ${path}`,
      },
    ];
  return ownFindings(path, stats);
}

/** As after a start as root, or a copy. */
function ownFindings(path: string, stats: Stats): Finding[] {
  const user = process.getuid?.();
  if (user === undefined || (user === 0 ? isOwners(stats) : stats.uid === user)) return [];
  return [
    {
      verdict: 'fail',
      what: 'files',
      found: `${path} belongs to another user (uid ${stats.uid})`,
      advice: `chown -R it to the user that runs the sidecar`,
    },
  ];
}

/** Space on the disk of every place that is written to. */
export function* spaceFindings({ dataFolder, database, writeBehind, backup }: SidecarConfig): Generator<Finding> {
  const places = new Set([dataFolder, writeBehind.journal, backup.folder]);
  if (database.provider === 'sqlite') places.add(dirname(database.file));
  const seen = new Set<number>();
  for (const place of places) {
    const path = nearest(place);
    const disk = statSync(path).dev;
    if (seen.has(disk)) continue;
    seen.add(disk);
    const { bavail, bsize } = statfsSync(path);
    const free = bavail * bsize;
    const found = `${grouped(Math.floor(free / MEGABYTE))} MB free for ${place}`;
    const advice = 'make room: a full disk refuses writes';
    if (!isWritable(path))
      yield {
        verdict: 'fail',
        what: 'disk',
        found: `${path} cannot be written`,
        advice: 'let the user that runs the sidecar write there',
      };
    else if (free < NO_SPACE) yield { verdict: 'fail', what: 'disk', found, advice };
    else
      yield free < LITTLE_SPACE
        ? { verdict: 'warn', what: 'disk', found, advice }
        : { verdict: 'ok', what: 'disk', found };
  }
}

function nearest(path: string): string {
  return existsSync(path) ? path : nearest(dirname(path));
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** The folder of queued writes; whose queues they are the database says. */
export async function* journalFindings({ writeBehind }: SidecarConfig): AsyncGenerator<Finding> {
  const { journal, namespaces } = writeBehind;
  const what = 'journal';
  if (!existsSync(journal)) {
    if (namespaces.size > 0) yield { verdict: 'ok', what, found: `${journal} is made by the next start` };
    return;
  }
  try {
    const id = await findJournalId(journal);
    const own = ownFindings(journal, statSync(journal));
    yield* own;
    if (own.length > 0) return;
    const lock = await NODE_DISK.lock(journal);
    lock?.release();
    yield {
      verdict: 'ok',
      what,
      found: `${journal} is journal ${id ?? '(new)'}, ${lock === null ? 'in use by a sidecar' : 'in use by nobody'}`,
    };
  } catch (error) {
    yield {
      verdict: 'fail',
      what,
      found: `${journal}: ${(error as Error).message}`,
      advice: 'docs/write-behind.md says what each line means',
    };
  }
}
