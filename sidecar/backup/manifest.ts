import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { MoveRefused } from '../moving/report.ts';

/** Grows when a program of before could not restore what a newer one writes. */
const FORMAT = 1;

export const MANIFEST = 'manifest.json';
/** All rows, in the form in which `copy` brings them to SQLite. */
export const CONTAINER = 'database.sqlite';
/** Acknowledged writes that wait for the database: a line of JSON each. */
export const WAITING = 'waiting.jsonl';

const count = z.number().int().min(0);
const place = z.object({ label: z.string(), rows: count, checksum: z.string() });
const namespace = z.object({
  name: z.string(),
  places: z.array(place),
  deadLetters: count,
  /** In `waiting.jsonl`; the rows may have some of them, as the place of the queue tells. */
  waitingWrites: count,
});
const file = z.object({ name: z.enum([CONTAINER, WAITING]), bytes: count, sha256: z.string() });

const manifest = z.object({
  format: z.literal(FORMAT),
  /** The moment whose state it is, ISO 8601 UTC. */
  time: z.iso.datetime(),
  /** Place of the source, without account and password. */
  source: z.string(),
  /** Id of the journal that the waiting writes come from; null if there was none. */
  journal: z.string().nullable(),
  namespaces: z.array(namespace),
  files: z.array(file).length(2),
});

/** Description of a complete backup, written last. */
export type Manifest = z.output<typeof manifest>;
export type BackedUpNamespace = Manifest['namespaces'][number];

export function newManifest(facts: Omit<Manifest, 'format'>): Manifest {
  return { format: FORMAT, ...facts };
}

/** Without reading the other files. @throws MoveRefused for what is no complete backup of this program */
export function readManifest(folder: string): Manifest {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(join(folder, MANIFEST), 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new MoveRefused(
      `${folder} is no complete backup: its ${MANIFEST} ${code === undefined ? 'is damaged' : `cannot be read (${code})`}`,
    );
  }
  const format = (json as { format?: unknown } | null)?.format;
  if (typeof format === 'number' && format > FORMAT) {
    throw new MoveRefused(`the backup ${folder} was written by a newer version of this program`);
  }
  const read = manifest.safeParse(json);
  if (!read.success) throw new MoveRefused(`${folder} is no complete backup: its ${MANIFEST} is damaged`);
  return read.data;
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
  const name = basename(path) === CONTAINER ? CONTAINER : WAITING;
  return { name, bytes: statSync(path).size, sha256: hash.digest('hex') };
}
