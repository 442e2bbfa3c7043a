import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { openEngine } from '#engine/open.ts';
import { type Row, StaleSchemaError } from '#engine/rows.ts';
import type { Value } from '#protocol/values.ts';
import { testFolder } from '#support/test-folder.ts';
import { bodies, declareNotes, insertNote, notesWhere, openSqlite, readNotes, until, within } from './world.ts';

const MILLION_NOTES = `
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
  INSERT INTO game__notes SELECT i, 'x' FROM n`;

let folder = '';
let file = '';

beforeEach(() => {
  folder = testFolder();
  file = join(folder, 'game.sqlite');
});

describe('durability', () => {
  it('waits for the disk, and writes that wait together share a commit', async () => {
    const { engine } = await openSqlite(file);
    const target = await declareNotes(engine);
    await Promise.all(Array.from({ length: 500 }, (_, i) => insertNote(engine, target, `note ${i}`)));
    const { commits, committedWrites } = engine.stats();
    expect(committedWrites).toBe(500);
    expect(commits).toBeLessThan(100);
    expect(await bodies(engine, target)).toHaveLength(500);
    await engine.close();
    const db = new SQLite(file, { readonly: true });
    expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
    expect(db.prepare('SELECT count(*) FROM game__notes').pluck().get()).toBe(500);
    db.close();
  });

  it('one that fails in a group leaves the others alone', async () => {
    const { engine } = await openSqlite(file);
    const target = await declareNotes(engine);
    const row = (id: number): Row =>
      new Map<string, Value>([
        ['id', id],
        ['body', 'x'],
      ]);
    const insert = (id: number) =>
      engine.write(target, { op: 'insert', rows: [row(id), row(id + 1000)] }, null, within(5000));
    const halfDone = engine.write(target, { op: 'insert', rows: [row(7), row(7)] }, null, within(5000));
    const outcomes = await Promise.allSettled([...[1, 2, 3, 2, 4, 1001, 5].map(insert), halfDone]);
    expect(outcomes.map((each) => each.status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
    ]);
    expect(await engine.count(target, null, within(5000))).toBe(10);
    await engine.close();
  });

  it('answers what was accepted before it closes', async () => {
    const { engine } = await openSqlite(file);
    const target = await declareNotes(engine);
    const writes = Array.from({ length: 50 }, (_, i) => insertNote(engine, target, `note ${i}`));
    await engine.close();
    expect(await Promise.all(writes)).toHaveLength(50);
  });
});

describe('a schema that another process has changed', () => {
  it('is noticed by reads and writes, in their own transaction', async () => {
    const { engine } = await openSqlite(file);
    const target = await declareNotes(engine);
    const other = new SQLite(file);
    other.exec("UPDATE _schemas SET revision = revision + 1 WHERE namespace = 'game'");
    other.close();
    await expect(insertNote(engine, target, 'x')).rejects.toBeInstanceOf(StaleSchemaError);
    await expect(bodies(engine, target)).rejects.toBeInstanceOf(StaleSchemaError);
    await expect(engine.count(target, null, within(5000))).rejects.toBeInstanceOf(StaleSchemaError);
    expect(await bodies(engine, await readNotes(engine))).toEqual([]);
    await engine.close();
  });
});

describe('a million rows', () => {
  it('an index serves filters', async () => {
    const { engine } = await openSqlite(file);
    const target = await declareNotes(engine);
    const db = new SQLite(file);
    db.exec(MILLION_NOTES);
    db.close();
    const tenth = notesWhere(
      target,
      '{"and":[{"field":"id","op":"gte","value":900000},{"field":"id","op":"lt","value":900010}]}',
    );
    await engine.count(target, tenth, within(5000));
    const startMs = performance.now();
    for (let i = 0; i < 20; i++) expect(await engine.count(target, tenth, within(1000))).toBe(10);
    const keyedMs = (performance.now() - startMs) / 20;
    const scanStartMs = performance.now();
    expect(
      await engine.count(target, notesWhere(target, '{"field":"body","op":"eq","value":"y"}'), within(20_000)),
    ).toBe(0);
    expect(keyedMs).toBeLessThan((performance.now() - scanStartMs) / 3);
    await engine.close();
  });

  it('a change ends at its deadline, also when its rows are all collected and only the changing is left', async () => {
    const { engine } = await openSqlite(file);
    const target = await declareNotes(engine);
    const db = new SQLite(file);
    db.exec('CREATE INDEX by_body ON game__notes (body)');
    db.exec(MILLION_NOTES);
    db.close();
    const filter = notesWhere(target, '{"field":"body","op":"gte","value":"a"}');
    const change = (body: string, ms: number) =>
      engine.write(target, { op: 'update', filter, set: new Map([['body', body]]), inc: new Map() }, null, within(ms));
    // Collecting takes a sixth of it. A machine that was busy and is no more may finish in a third: then that is the whole.
    let wholeMs = 180_000;
    let body = '';
    let refusal: unknown;
    for (let round = 0; round < 8 && refusal === undefined; round += 1) {
      body = `b${round}`;
      const startMs = performance.now();
      refusal = await change(body, wholeMs / 3).then(
        () => undefined,
        (error: unknown) => error,
      );
      wholeMs = performance.now() - startMs;
    }
    expect(refusal).toMatchObject({ code: 'database_timeout', message: expect.stringContaining('changed nothing') });
    const changed = notesWhere(target, JSON.stringify({ field: 'body', op: 'eq', value: body }));
    expect(await engine.count(target, changed, within(20_000))).toBe(0);
    await engine.close();
  });
});

describe('expired idempotency records', () => {
  it('are removed in the background, by the clock that was given', async () => {
    let clockMs = 1_000_000;
    const engine = await openEngine(
      { provider: 'sqlite', file, poolSize: 2 },
      { log: () => {}, now: () => clockMs, purgeIntervalMs: 20 },
    );
    const target = await declareNotes(engine);
    const slot = { kid: 'local', namespace: 'game', fingerprint: 'f', now: clockMs, expiresAt: clockMs + 1000 };
    const write = (key: string) =>
      engine.write(target, { op: 'insert', rows: [new Map([['body', key]])] }, { ...slot, key }, within(5000));
    await Promise.all(Array.from({ length: 1200 }, (_, i) => write(`k${i}`)));
    const db = new SQLite(file, { readonly: true });
    const kept = (): unknown => db.prepare('SELECT count(*) FROM _idempotency').pluck().get();
    expect(kept()).toBe(1200);
    clockMs += 1000;
    await until(() => kept() === 0);
    db.close();
    await engine.close();
  });
});

it('counts the rows of a namespace whose name SQLite keeps for itself', async () => {
  const { engine } = await openSqlite(file);
  const notes = await declareNotes(engine, 'sqlite');
  await engine.write(notes, { op: 'insert', rows: [new Map([['body', 'x']])] }, null, within(5000));
  expect(await engine.tableSizes('sqlite', ['notes'], within(5000))).toMatchObject([{ table: 'notes', rows: 1 }]);
  await engine.close();
});
