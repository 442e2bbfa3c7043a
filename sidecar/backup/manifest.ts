import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import * as z from 'zod';
import { MoveRefused } from '../moving/report.ts';

/** Grows when a program of before could not restore what a newer one writes. Format 1 has the first two files alone. */
const FORMAT = 2;

export const MANIFEST = 'manifest.json';
/** All rows, in the form in which `copy` brings them to SQLite. */
export const CONTAINER = 'database.sqlite';
/** Acknowledged writes that wait for the database: a line of JSON each. */
export const WAITING = 'waiting.jsonl';
/** The panel's own file: accounts, settings, audit log. */
export const PANEL = 'panel.sqlite';
/** The configuration without its secrets. */
export const CONFIGURATION = 'sidecar.json';

const FILES = [CONTAINER, WAITING, PANEL, CONFIGURATION] as const;
export type BackupFile = (typeof FILES)[number];

const count = z.number().int().min(0);
const place = z.object({ label: z.string(), rows: count, checksum: z.string() });
const namespace = z.object({
  name: z.string(),
  places: z.array(place),
  deadLetters: count,
  /** In `waiting.jsonl`; the rows may have some of them, as the place of the queue tells. */
  waitingWrites: count,
});
const file = z.object({ name: z.enum(FILES), bytes: count, sha256: z.string() });

const manifest = z.object({
  format: z.int().min(1).max(FORMAT),
  /** The moment whose state it is, ISO 8601 UTC. */
  time: z.iso.datetime(),
  /** Place of the source, without account and password. */
  source: z.string(),
  /** Id of the journal that the waiting writes come from; null if there was none. */
  journal: z.string().nullable(),
  namespaces: z.array(namespace),
  /** Journals of other boxes, from which the rows may lack queued writes that were acknowledged before; left out for none. */
  notHeld: z.array(z.object({ journal: z.string(), box: z.string().nullable(), waiting: count.nullable() })).optional(),
  files: z.array(file).check(z.refine((files) => [CONTAINER, WAITING].every((name) => isOnce(files, name)))),
});

function isOnce(files: readonly { readonly name: string }[], wanted: string): boolean {
  return files.filter(({ name }) => name === wanted).length === 1;
}

/** Description of a complete backup, written last. */
export type Manifest = z.output<typeof manifest>;
export type BackedUpNamespace = Manifest['namespaces'][number];

export function newManifest(facts: Omit<Manifest, 'format'>): Manifest {
  return { format: FORMAT, ...facts };
}

/** Without reading the other files. @throws MoveRefused for what is no complete backup of this program */
export function readManifest(folder: string): Manifest {
  try {
    return parseManifest(readFileSync(join(folder, MANIFEST), 'utf8'), folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new MoveRefused(
      `${folder} is no complete backup: its ${MANIFEST} cannot be read (${code}); backup --list shows the backups`,
    );
  }
}

/** @param backup its name, for errors. @throws MoveRefused */
export function parseManifest(text: string, backup: string): Manifest {
  const json = jsonOrNull(text) as { format?: unknown } | null;
  if (typeof json?.format === 'number' && json.format > FORMAT) {
    throw new MoveRefused(`the backup ${backup} was written by a newer version of this program`);
  }
  const read = manifest.safeParse(json);
  if (!read.success) throw new MoveRefused(`${backup} is no complete backup: its ${MANIFEST} is damaged`);
  return read.data;
}

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Rows of one table. */
export interface TableRows {
  readonly namespace: string;
  readonly table: string;
  readonly rows: number;
}

/** Without objects in quarantine, whose labels have spaces (`moving/place.ts`). */
export function tablesOf({ namespaces }: Pick<Manifest, 'namespaces'>): TableRows[] {
  return namespaces.flatMap(({ name, places }) =>
    places
      .filter(({ label }) => !label.includes(' '))
      .map(({ label, rows }) => ({ namespace: name, table: label, rows })),
  );
}

/** Rows of all tables, those in quarantine too. */
export function rowsOf({ namespaces }: Pick<Manifest, 'namespaces'>): number {
  return namespaces.flatMap(({ places }) => places).reduce((sum, { rows }) => sum + rows, 0);
}

/** @throws MoveRefused if a file is not, byte for byte, as the manifest says */
export async function checkFiles(folder: string, { files }: Manifest): Promise<void> {
  for (const { name, bytes, sha256 } of files) {
    const found = await describeFile(join(folder, name)).catch(() => null);
    if (found?.bytes === bytes && found.sha256 === sha256) continue;
    throw new MoveRefused(
      `the backup ${folder} is damaged: ${name} ${found === null ? 'cannot be read' : 'is not what was written'}`,
    );
  }
}

/** Entry of a file of a backup in its manifest. */
export async function describeFile(path: string): Promise<Manifest['files'][number]> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  const name = basename(path) as BackupFile;
  return { name, bytes: statSync(path).size, sha256: hash.digest('hex') };
}
