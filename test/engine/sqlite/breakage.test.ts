import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import SQLite from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { itIf } from '#support/it-if.ts';
import { testFolder } from '#support/test-folder.ts';
import { bodies, declareNotes, insertNote, openSqlite, readNotes, type TestEngine, until, within } from './world.ts';

let folder = '';
let file = '';
let opened: TestEngine[] = [];

beforeEach(() => {
  folder = testFolder();
  file = join(folder, 'data', 'game.sqlite');
  opened = [];
});

afterEach(async () => {
  for (const { engine } of opened) await engine.close();
});

async function open(at = file): Promise<TestEngine> {
  const world = await openSqlite(at);
  opened.push(world);
  return world;
}

const problems = ({ log }: TestEngine): string[] =>
  log.filter((line) => line.level === 'error').map((line) => String(line.fields.problem));

describe('a file that must not be used', () => {
  it.each([
    ['a newer format', "UPDATE _meta SET value = '3'", /format version 3/],
    ['no readable format', "UPDATE _meta SET value = 'x'", /no readable format version/],
  ])('%s is refused and not touched', async (_, change, message) => {
    const { engine } = await openSqlite(file);
    await engine.close();
    const db = new SQLite(file);
    db.exec(change);
    db.close();
    const before = readFileSync(file);
    await expect(openSqlite(file)).rejects.toThrow(message);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('another program’s is refused and not touched', async () => {
    mkdirSync(join(folder, 'data'));
    const db = new SQLite(file);
    db.exec('CREATE TABLE theirs (a)');
    db.close();
    const before = readFileSync(file);
    await expect(openSqlite(file)).rejects.toThrow(/another program/);
    expect(readFileSync(file).equals(before)).toBe(true);
  });
});

describe('a file that cannot be used now', () => {
  it('garbage: calls fail, the owner is told, the file stays, and it works once it is gone', async () => {
    mkdirSync(join(folder, 'data'));
    writeFileSync(file, 'not a database, and long enough to have a header'.repeat(100));
    const before = readFileSync(file);
    const world = await open();
    await expect(world.engine.ping(within(2000))).rejects.toMatchObject({ code: 'database_error' });
    await expect(world.engine.schemas.readSchema('game', within(2000))).rejects.toMatchObject({
      code: 'database_error',
    });
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(problems(world)[0]).toMatch(/SQLITE_NOTADB/);
    expect(world.log[0]?.fields).toMatchObject({ file, advice: expect.stringContaining('database.file') });
    rmSync(file);
    await until(() => world.engine.ping(within(1000)).then(() => true));
    await insertNote(world.engine, await declareNotes(world.engine), 'works');
    await until(() => world.log.some((line) => line.message === 'database works again'));
  });

  it('a folder in its place: the same', async () => {
    mkdirSync(file, { recursive: true });
    const world = await open();
    await expect(world.engine.ping(within(2000))).rejects.toMatchObject({ code: 'database_error' });
    expect(problems(world)[0]).toMatch(/SQLITE_CANTOPEN|SQLITE_IOERR/);
    rmdirSync(file);
    await until(() => world.engine.ping(within(1000)).then(() => true));
  });

  it('a file in the place of its folder: the same', async () => {
    writeFileSync(join(folder, 'data'), '');
    const world = await open();
    await expect(world.engine.ping(within(2000))).rejects.toMatchObject({ code: 'database_error' });
    rmSync(join(folder, 'data'));
    await until(() => world.engine.ping(within(1000)).then(() => true));
  });

  it('damage in the middle is database_error for what touches it, and a restored copy is served', async () => {
    const first = await openSqlite(file);
    const target = await declareNotes(first.engine);
    for (let i = 0; i < 300; i++) await insertNote(first.engine, target, `note ${i} ${'x'.repeat(900)}`);
    await first.engine.close();
    const copy = join(folder, 'copy');
    copyFileSync(file, copy);
    const bytes = readFileSync(file);
    for (let page = 10; page < bytes.length / 4096 - 1; page++) bytes.fill(0xab, page * 4096, page * 4096 + 100);
    writeFileSync(file, bytes);
    const world = await open();
    const notes = await readNotes(world.engine);
    await expect(bodies(world.engine, notes)).rejects.toMatchObject({ code: 'database_error' });
    expect(problems(world)[0]).toMatch(/SQLITE_CORRUPT/);
    await world.engine.close();
    opened = [];
    renameSync(copy, file);
    const again = await open();
    expect(await bodies(again.engine, await readNotes(again.engine))).toHaveLength(300);
  });
});

const isRoot = process.getuid?.() === 0;
const noMount = whyNoMount();

/** null if this process may mount a disk. */
function whyNoMount(): string | null {
  const at = testFolder();
  try {
    mountSmallDisk(at);
    execFileSync('umount', [at]);
    return null;
  } catch {
    return 'this user may not mount a disk';
  }
}

/** A disk of 2 MB. */
function mountSmallDisk(at: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'none', at], { stdio: 'ignore' });
}

/** Root may write everywhere but on a disk that is mounted read-only. Returns the way back. */
function makeReadOnly(at: string): () => void {
  if (!isRoot) {
    chmodSync(at, 0o555);
    return () => chmodSync(at, 0o755);
  }
  execFileSync('mount', ['--bind', at, at], { stdio: 'ignore' });
  execFileSync('mount', ['-o', 'remount,bind,ro', at], { stdio: 'ignore' });
  return () => execFileSync('umount', ['-l', at]);
}

describe('a read-only folder', () => {
  itIf(isRoot ? noMount : null, 'refuses writes with advice, and takes them once it may be written', async () => {
    const first = await openSqlite(file);
    await insertNote(first.engine, await declareNotes(first.engine), 'kept');
    await first.engine.close();
    const undo = makeReadOnly(dirname(file));
    const world = await open();
    try {
      const insert = async () => insertNote(world.engine, await readNotes(world.engine), 'new');
      await expect(insert()).rejects.toMatchObject({ code: 'database_error' });
      expect(problems(world)[0]).toMatch(/SQLITE_(READONLY|CANTOPEN)|EROFS|EACCES/);
      expect(String(world.log[0]?.fields.advice)).toMatch(/write/);
    } finally {
      undo();
    }
    await until(async () => (await insertNote(world.engine, await readNotes(world.engine), 'new')) !== '');
    expect(await bodies(world.engine, await readNotes(world.engine))).toEqual(['kept', 'new']);
  });
});

describe('a full disk', () => {
  itIf(noMount, 'refuses writes, loses nothing that was answered, and goes on when there is room', async () => {
    const disk = join(folder, 'disk');
    mkdirSync(disk);
    mountSmallDisk(disk);
    const answered: string[] = [];
    const world = await openSqlite(join(disk, 'game.sqlite'));
    try {
      const target = await declareNotes(world.engine);
      const ballast = join(disk, 'ballast');
      writeFileSync(ballast, Buffer.alloc(600_000));
      let failure: unknown = null;
      for (let i = 0; failure === null && i < 500; i++) {
        const body = `note ${i} ${'x'.repeat(20_000)}`;
        await insertNote(world.engine, target, body).then(
          () => answered.push(body),
          (error: unknown) => {
            failure = error;
          },
        );
      }
      expect(failure).toMatchObject({ code: 'database_error' });
      expect(problems(world)[0]).toMatch(/SQLITE_FULL/);
      expect(world.log.find((line) => line.level === 'error')?.fields.advice).toMatch(/disk is full/);
      expect(await bodies(world.engine, target)).toEqual(answered);
      rmSync(ballast);
      await insertNote(world.engine, target, 'room again');
      expect(await bodies(world.engine, target)).toEqual([...answered, 'room again']);
    } finally {
      await world.engine.close();
      execFileSync('umount', [disk]);
    }
    expect(existsSync(disk)).toBe(true);
  });
});

describe('a disk that does not answer', () => {
  it('keeps no caller waiting beyond its deadline, and is used again once it does', async () => {
    const world = await openSqlite(file, 2);
    const target = await declareNotes(world.engine);
    await world.engine.close();
    const again = await openSqlite(file, 2);
    opened.push(again);
    // A reader looks for a journal when it opens the file, and the opening of this one ends only with a writer.
    const journal = `${file}-journal`;
    execFileSync('mkfifo', [journal]);
    const startMs = performance.now();
    // A thread that starts late refuses it without having opened the file.
    await expect(bodies(again.engine, target, 1)).rejects.toMatchObject({ code: 'database_timeout' });
    await expect(bodies(again.engine, target, 200)).rejects.toMatchObject({ code: 'database_timeout' });
    expect(performance.now() - startMs).toBeLessThan(2000);
    await insertNote(again.engine, target, 'meanwhile');
    // Its thread started with the first of them, and may not have come to the journal yet.
    await until(() => {
      closeSync(openSync(journal, constants.O_WRONLY | constants.O_NONBLOCK));
      return true;
    });
    rmSync(journal, { force: true });
    await until(() => bodies(again.engine, target, 1000).then((found) => found.length > 0));
    expect(await bodies(again.engine, target)).toEqual(['meanwhile']);
  });
});

describe('another process', () => {
  it('that holds the database makes writes wait, and time out without a trace', async () => {
    const world = await open();
    const target = await declareNotes(world.engine);
    const other = new SQLite(file);
    other.exec('BEGIN IMMEDIATE');
    await expect(insertNote(world.engine, target, 'too late', 300)).rejects.toMatchObject({ code: 'database_timeout' });
    const patient = insertNote(world.engine, target, 'in time', 5000);
    expect(await bodies(world.engine, target)).toEqual([]);
    other.exec('COMMIT');
    other.close();
    await patient;
    expect(await bodies(world.engine, target)).toEqual(['in time']);
  });
});
