import { Client } from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { ClusterAnswer } from '#panel/shapes/cluster.ts';
import { type PostgresPair, type PostgresServer, startPostgresPair } from '#support/cluster/postgres-pair.ts';
import { startSidecar, type TestSidecar } from '#support/sidecar.ts';
import { startTestPanel } from '#test/panel/support/panel.ts';
import { Ledger, NOTHING_WRONG, TABLES } from './acknowledged.ts';

let pair: PostgresPair;
/** Knows both servers, the primary first. */
let sidecar: TestSidecar;

const sidecarAt = (url: string): Promise<TestSidecar> =>
  startSidecar({ database: { settings: { provider: 'postgres', url }, drop: async () => {} } });
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
  const panel = await startTestPanel({ database: { settings: { provider: 'postgres', url }, drop: async () => {} } });
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
