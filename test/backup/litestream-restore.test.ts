import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { beforeEach, expect, it } from 'vitest';
import { runRestore } from '#sidecar/commands/restore.ts';
import { withPreload } from '#support/preloads.ts';
import { SIDECAR_MAIN } from '#support/sidecar-program.ts';
import { copyIo } from '../support/copy-io.ts';
import { startSidecar } from '../support/sidecar.ts';
import { testFolder } from '../support/test-folder.ts';

/** Putting the database of a copy in place. The program is one of the test that copies a file: the real one has a test of its own. */

const DAMAGED = 'no database'.repeat(1000);

let folder = '';
let database = '';

beforeEach(() => {
  folder = testFolder();
  database = join(folder, 'data/database.sqlite');
  mkdirSync(join(folder, 'data'));
  mkdirSync(join(folder, 'disk/litestream-abcdefgh'), { recursive: true });
  const copy = join(folder, 'copy.sqlite');
  write(copy, 'new').close();
  const program = join(folder, 'copies');
  writeFileSync(program, `#!/bin/sh\nfor last; do :; done\ncp '${copy}' "$last"\n`, { mode: 0o700 });
  const remote = { type: 'folder', path: join(folder, 'disk') };
  writeFileSync(join(folder, 'sidecar.json'), JSON.stringify({ backup: { remote, continuous: { program } } }));
});

/** A database in WAL mode whose only row stands in its log until it is closed. */
function write(file: string, value: string): Sqlite.Database {
  const made = new Sqlite(file);
  made.pragma('journal_mode = WAL');
  made.exec(`CREATE TABLE t (v TEXT); INSERT INTO t VALUES ('${value}')`);
  return made;
}

function read(file: string): string {
  const opened = new Sqlite(file, { fileMustExist: true });
  const [row] = opened.prepare('SELECT v FROM t').all() as { v: string }[];
  opened.close();
  return row?.v ?? '';
}

const args = (...more: string[]) => [
  ...['--from', 'litestream', '--latest', '--config', join(folder, 'sidecar.json'), ...more],
];
const asides = () => readdirSync(join(folder, 'data')).filter((name) => /\.before-[^.]*$/.test(name));

/** The old database as after a crash: its file, and its newest row in the log alone. */
function leaveOld(isDamaged: boolean): void {
  const made = join(folder, 'made.sqlite');
  const other = write(made, 'older');
  other.pragma('wal_checkpoint(TRUNCATE)');
  other.exec("UPDATE t SET v = 'old'");
  for (const suffix of ['', '-wal']) copyFileSync(`${made}${suffix}`, `${database}${suffix}`);
  if (isDamaged) writeFileSync(database, DAMAGED);
  other.close();
  rmSync(made);
}

it('a sidecar that runs, or any program that has the database open, is refused, and nothing is changed', async () => {
  rmSync(join(folder, 'data'), { recursive: true });
  const backup = { remote: { type: 'folder', path: join(folder, 'disk') } };
  for (const config of [{ backup }, { backup, writeBehind: { namespaces: { game: {} } } }]) {
    const sidecar = await startSidecar({ folder, config });
    await sidecar.client.must('schema.sync', { namespace: 'game', schema: { tables: [] } });
    await expect(runRestore(args('--replace'), copyIo().io)).rejects.toThrow(/stop (it|the sidecar)/);
    await sidecar.stop();
  }
  expect(asides()).toEqual([]);
});

it('the database of the environment is made, and another engine than SQLite is refused', async () => {
  const { io } = copyIo();
  const file = join(folder, 'elsewhere/game.sqlite');
  await runRestore(args(), { ...io, environment: { SIDECAR_DATABASE_FILE: file, PATH: process.env.PATH } });
  expect([read(file), existsSync(database)]).toEqual(['new', false]);
  const other = { ...io, environment: { SIDECAR_DATABASE_PROVIDER: 'postgres' } };
  await expect(runRestore(args(), other)).rejects.toThrow('expected SQLite, got postgres');
});

it.each([
  ['a sound database', false],
  ['a damaged one', true],
])(
  'a kill at any moment leaves %s, the new one or none, and the same command ends it',
  async (_name, isDamaged) => {
    const killFile = join(folder, 'kill');
    let step = 1;
    for (; step < 20; step += 1) {
      for (const name of readdirSync(join(folder, 'data'))) rmSync(join(folder, 'data', name), { recursive: true });
      leaveOld(isDamaged);
      writeFileSync(killFile, `${step}`);
      const env = {
        ...process.env,
        NODE_OPTIONS: withPreload('kill-at-rename'),
        KILL_FILE: killFile,
        KILL_PATHS: database,
      };
      const child = spawn(process.execPath, [SIDECAR_MAIN, 'restore', ...args('--replace')], { env, stdio: 'ignore' });
      const [, signal] = await once(child, 'close');
      if (signal !== 'SIGKILL') break;
      // Never the new file beside the old log.
      const found = existsSync(database) ? readFileSync(database, 'utf8') : null;
      if (found !== null && found !== DAMAGED) expect(['old', 'new']).toContain(read(database));
      await runRestore(args('--replace'), { ...copyIo().io, environment: { PATH: process.env.PATH } });
      expect([read(database), existsSync(`${database}-wal`)]).toEqual(['new', false]);
      const [aside = ''] = asides();
      const kept = join(folder, 'data', aside);
      if (isDamaged) expect([readFileSync(kept, 'utf8'), existsSync(`${kept}-wal`)]).toEqual([DAMAGED, true]);
      else expect(read(kept)).toBe('old');
    }
    expect([read(database), step]).toEqual(['new', isDamaged ? 7 : 3]);
  },
  120_000,
);
