import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

/** A file for each engine: the disk and the database as an old build left them. */
export interface Fixture {
  /** Answers to `READS`, as text. */
  readonly answers: readonly string[];
  /** The cookies of a browser that is signed in. */
  readonly cookies: readonly (readonly [string, string])[];
  /** The folder of the sidecar: path → base64. */
  readonly files: Readonly<Record<string, string>>;
  /** Dump of a server: SQL statements (PostgreSQL: one text of `pg_dump`), or lines of JSON; SQLite's is a file. */
  readonly dump: readonly string[];
}

export function fixtureFile(build: string, engine: string): string {
  return new URL(`../../fixtures/${build}/${engine}.json.gz`, import.meta.url).pathname;
}

export function readFixture(build: string, engine: string): Fixture {
  return JSON.parse(gunzipSync(readFileSync(fixtureFile(build, engine))).toString()) as Fixture;
}

export function writeFixture(file: string, fixture: Fixture): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, gzipSync(JSON.stringify(fixture, null, 1), { level: 9 }));
}

/** `sidecar.json` stays out: a test that opens the fixture writes its own. */
export function filesBelow(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  const kept = paths.filter((path) => path.startsWith('data/'));
  return Object.fromEntries(kept.map((path) => [path, readFileSync(join(folder, path)).toString('base64')]));
}

export function unpackFiles(folder: string, files: Fixture['files']): void {
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, path), Buffer.from(bytes, 'base64'), { mode: 0o600 });
  }
}
