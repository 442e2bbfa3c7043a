import { Client } from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { ClusterAnswer } from '#panel/shapes/cluster.ts';
import { type PostgresPair, type PostgresServer, startPostgresPair } from '#support/cluster/postgres-pair.ts';
import { foundByDoctor } from '#support/found-by-doctor.ts';
import { startSidecar, type TestSidecar } from '#support/sidecar.ts';
import { startTestPanel } from '#test/panel/support/panel.ts';
import { Ledger, NOTHING_WRONG, TABLES } from './acknowledged.ts';

let pair: PostgresPair;
/** Knows both servers, the primary first. */
let sidecar: TestSidecar;

const databaseOf = (url: string) => ({ database: { settings: { provider: 'postgres', url }, drop: async () => {} } });
const sidecarAt = (url: string): Promise<TestSidecar> => startSidecar(databaseOf(url));
const insertion = (tag: string) => ({ namespace: 'game', table: 'entries', rows: [{ tag }] });

beforeAll(async () => {
  pair = await startPostgresPair({ isSynchronous: true });
  sidecar = await sidecarAt(pair.urlOf('sidecar', pair.primary, pair.standby));
  await sidecar.client.must('schema.sync', { namespace: 'game', schema: { tables: TABLES } });
}, 120_000);

afterAll(async () => {
  await sidecar?.stop();
  await pair?.stop();
});

it('a sidecar on a standby serves reads, and tells that a write could not be done', async () => {
  await sidecar.client.must('insert', insertion('before'));
  const single = await sidecarAt(pair.standby.url);
  onTestFinished(() => single.stop());
  const readiness = await single.client.get('/readyz');
  expect(readiness.status).toBe(503);
  expect(JSON.parse(readiness.body)).toMatchObject({ database: true, takesNoWrites: 'standby' });
  expect(await single.client.must('health', {})).toMatchObject({ status: 'degraded', takesNoWrites: 'standby' });
  expect((await single.client.call('insert', insertion('never'))).code).toBe('database_error');
  const find = { namespace: 'game', table: 'entries' };
  await expect.poll(async () => (await single.client.must('find', find)).rows).toHaveLength(1);
});

it('of two hosts the one that takes writes is used, whatever their order', async () => {
  const reversed = await sidecarAt(pair.urlOf('sidecar', pair.standby, pair.primary));
  onTestFinished(() => reversed.stop());
  await reversed.client.must('insert', insertion('reversed'));
  expect((await reversed.client.get('/readyz')).status).toBe(200);
});

it('tells that each write waits while no synchronous standby confirms', async () => {
  const panel = await startTestPanel(databaseOf(pair.urlOf('sidecar', pair.primary)));
  onTestFinished(() => panel.stop());
  const owner = await panel.owner();
  const lacksStandby = async () => (await owner.get<ClusterAnswer>('/api/cluster')).body.lacksStandby;
  const ready = async () => {
    const started = performance.now();
    const { status, body } = await sidecar.client.get('/readyz');
    expect(performance.now() - started).toBeLessThan(2000);
    return { httpStatus: status, ...(JSON.parse(body) as object) };
  };
  const well = { httpStatus: 200, status: 'ready', database: true };
  const waiting = { httpStatus: 503, status: 'unavailable', database: true, takesNoWrites: 'noStandby' };
  await expect.poll(ready).toEqual(well);
  expect(await lacksStandby()).toBe(false);

  await pair.standby.server.kill();
  await expect.poll(ready).toEqual(waiting);
  expect(await sidecar.client.must('health', {})).toMatchObject({ status: 'degraded', takesNoWrites: 'noStandby' });
  await expect.poll(lacksStandby).toBe(true);
  expect(await foundByDoctor(sidecar.configFile, 'database')).toContainEqual({
    verdict: 'fail',
    what: 'database',
    found: 'no synchronous standby confirms, so no write is acknowledged',
    advice: expect.stringContaining('start the standby, or take it out of synchronous_standby_names'),
  });
  const { rows } = await sidecar.client.must('find', { namespace: 'game', table: 'entries', limit: 1 });
  expect(rows).toHaveLength(1);
  await pair.standby.server.start();
  await expect.poll(ready, { timeout: 20_000 }).toEqual(well);
  await expect.poll(lacksStandby).toBe(false);

  // The state of standbys is hidden from an ordinary account: one that follows may be the one that confirms.
  const waitFor = (names: string) =>
    pair.primary.admin(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`, 'SELECT pg_reload_conf()');
  await waitFor('ANY 2 (standby, other)');
  await expect.poll(ready).toEqual(waiting);
  await waitFor('ANY 1 (other)');
  await expect.poll(ready).toEqual(well);
  await pair.primary.admin('SET synchronous_commit = local', 'GRANT pg_read_all_stats TO sidecar');
  await expect.poll(ready).toEqual(waiting);
  await pair.primary.admin('SET synchronous_commit = local', 'REVOKE pg_read_all_stats FROM sidecar');
  await waitFor('ANY 1 (standby)');
  await expect.poll(ready).toEqual(well);
});

it('a fail-over loses no acknowledged write and doubles none, and a replaced primary is left alone', async () => {
  const ledger = new Ledger();
  const seen = await hostSeenInPanel();
  await expect.poll(seen).toEqual({ host: hostOf(pair.primary), insteadOf: null, hasOthers: true });
  await ledger.prepare(sidecar.client);
  const callers = [0, 1, 2, 3].map((position) => ledger.load(() => sidecar.client, `over-${position}`));
  await ledger.more(200);
  await pair.primary.server.kill();
  await pair.promote();
  await ledger.more(200);
  ledger.end();
  await Promise.all(callers);
  expect(await ledger.judge(sidecar.client)).toEqual(NOTHING_WRONG);
  const now = { host: hostOf(pair.standby), insteadOf: hostOf(pair.primary), hasOthers: true };
  await expect.poll(seen, { timeout: 30_000 }).toEqual(now);

  // The old primary comes back and takes writes, which no one follows.
  await pair.primary.server.start();
  const late = await sidecarAt(pair.urlOf('sidecar', pair.primary, pair.standby));
  onTestFinished(() => late.stop());
  for (const each of [sidecar, late]) await each.client.must('insert', insertion('after'));
  const stored = "SELECT count(*)::int FROM game__entries WHERE tag = 'after'";
  expect(await countAt(pair.primary.url, stored)).toBe(0);
  expect(await countAt(pair.standby.url, stored)).toBe(2);
});

const hostOf = ({ port }: PostgresServer): string => `127.0.0.1:${port}`;

/** The database's host as an account reads it in the panel of one more sidecar. */
async function hostSeenInPanel(): Promise<() => Promise<unknown>> {
  const url = pair.urlOf('sidecar', pair.primary, pair.standby);
  const panel = await startTestPanel(databaseOf(url));
  onTestFinished(() => panel.stop());
  const owner = await panel.owner();
  return async () => (await owner.get<ClusterAnswer>('/api/cluster')).body.database;
}

async function countAt(url: string, text: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query({ text, rowMode: 'array' });
    return Number(rows[0]?.[0]);
  } finally {
    await client.end();
  }
}
