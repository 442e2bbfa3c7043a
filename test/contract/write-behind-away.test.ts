import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newDatabase, type TestDatabase } from '../support/test-database.ts';
import { testFolder } from '../support/test-folder.ts';
import { outcome, PATIENT } from './data-world.ts';
import { healthOf, LATER, PLAIN_READS, Scores, sidecarsOfTest } from './write-behind-world.ts';

/** A sidecar that starts while its database is away (contract section 7). */
describe('a database that is away at the start', () => {
  const namespaces = { stats: {}, plain: PLAIN_READS };
  const writeBehind = { ...LATER, drainOnStopMs: 0, haltAfterFailures: 2, namespaces };
  let folder: string;
  let database: TestDatabase;

  beforeAll(async () => {
    folder = testFolder();
    database = await newDatabase();
  });
  afterAll(async () => {
    await database.drop();
  });
  const start = sidecarsOfTest();

  /** Port 1 is nobody's; a folder is no file that SQLite could open. */
  function away(): TestDatabase {
    if (database.settings.provider === 'sqlite') {
      return { settings: { ...database.settings, file: folder }, drop: async () => {} };
    }
    const url = new URL(String(database.settings.url));
    url.port = '1';
    if (url.protocol === 'mongodb:') url.searchParams.set('serverSelectionTimeoutMS', '300');
    return { settings: { ...database.settings, url: url.href }, drop: async () => {} };
  }

  it('acknowledges by the schema that the journal keeps, and applies it when the database is back', async () => {
    const first = await start({ folder, database, config: { ...PATIENT, writeBehind } });
    const before = new Scores(first.client, 'stats');
    await before.declare();
    await before.insert(1);
    await before.flush();
    const old = await before.add(1, 1, { idempotencyKey: 'old' });
    await first.stop();

    const without = await start({ folder, database: away(), config: { writeBehind } });
    const scores = new Scores(without.client, 'stats');
    expect((await without.client.get('/readyz')).status).toBe(503);
    expect((await scores.add(1, 1, { idempotencyKey: 'old' })).text).toBe(old.text);
    const ack = await scores.add(1, 10, { idempotencyKey: 'new' });
    expect(ack.result).toMatchObject({ queued: true, pending: 2 });
    expect((await scores.add(1, 10, { idempotencyKey: 'new' })).text).toBe(ack.text);
    expect(outcome(await scores.add(1, 11, { idempotencyKey: 'new' }))).toBe('422 idempotency_conflict');
    expect(outcome(await scores.call('insert', { rows: [{ id: 'x' }] }))).toBe('400 invalid_value');
    expect(outcome(await scores.call('insert', { rows: [{ id: 1, no: 1 }] }))).toBe('400 unknown_column');
    expect(outcome(await scores.call('insert', { table: 'no', rows: [{ id: 1 }] }))).toBe('404 unknown_table');
    for (const answer of [await scores.call('find', {}), await scores.insert(2, { durability: 'immediate' })]) {
      expect(outcome(answer)).toBe('503 write_buffer_halted');
    }
    expect(await scores.flush()).toEqual({ flushed: 0, deadLettered: 0, remaining: 2, halted: true, enabled: true });
    expect(await healthOf(without.client)).toMatchObject({
      status: 'degraded',
      database: false,
      writeBuffer: { pending: 2, halted: true },
    });
    // The journal cannot check a namespace that it has never seen declared.
    expect(outcome(await new Scores(without.client, 'plain').insert(1))).toBe('503 write_buffer_unavailable');
    await without.stop();

    const again = await start({ folder, database, config: { ...PATIENT, writeBehind } });
    expect(await new Scores(again.client, 'stats').points()).toEqual([[1, 11]]);
    expect((await new Scores(again.client, 'stats').add(1, 10, { idempotencyKey: 'new' })).text).toBe(ack.text);
    expect(await healthOf(again.client)).toMatchObject({ status: 'ok', writeBuffer: { pending: 0, halted: false } });
  });

  it('needs no write before it went: the sync was enough', async () => {
    const elsewhere = testFolder();
    const another = await newDatabase();
    const config = { ...PATIENT, writeBehind };
    const first = await start({ folder: elsewhere, database: another, config });
    await new Scores(first.client, 'stats').declare();
    await first.stop();
    const without = await start({ folder: elsewhere, database: away(), config: { writeBehind } });
    expect((await new Scores(without.client, 'stats').insert(1)).result).toMatchObject({ queued: true, pending: 1 });
    await without.stop();
    await another.drop();
  });

  it('refuses a namespace whose queue it has never owned', async () => {
    const elsewhere = testFolder();
    const stranger = await start({ folder: elsewhere, database: away(), config: { writeBehind } });
    expect(outcome(await new Scores(stranger.client, 'stats').insert(1))).toBe('503 write_buffer_unavailable');
    await stranger.stop();
  });
});
