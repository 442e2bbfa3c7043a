import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { openEngine } from '#engine/open.ts';
import { providerOf } from '#scripts/servers/chosen-engines.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import { Quarantine, tablesFirst } from '#sidecar/schema/quarantine.ts';
import { secretOf, writeConfig } from '#support/config-folder.ts';
import { KEYED, KEYED_QUEUED, readAll, SCORES_ONCE, WRITE_BEHIND, WRITTEN_AT } from '#support/old-build/contents.ts';
import { loadDump } from '#support/old-build/dump.ts';
import { type Fixture, readFixture, unpackFiles } from '#support/old-build/fixture.ts';
import { SignedClient } from '#support/signed-client.ts';
import { newDatabase, type TestDatabase } from '#support/test-database.ts';
import { PASSWORD, startTestPanel, type TestPanel } from '#test/panel/support/panel.ts';
import { testFolder } from '../support/test-folder.ts';

/**
 * A database, a journal and a `panel.sqlite` that build f741667 has written: the present program opens and serves them.
 * `support/old-build/make-fixtures.ts` made them.
 */

const engine = inject('engine') ?? 'sqlite';
const now = () => WRITTEN_AT + 60_000;
const folder = testFolder();
let fixture: Fixture;
let database: TestDatabase | null = null;
let panel: TestPanel;
let client: SignedClient;

beforeAll(async () => {
  fixture = readFixture('f741667', engine === 'mysql9' ? 'mysql' : engine);
  unpackFiles(folder, fixture.files);
  if (engine !== 'sqlite') {
    database = await newDatabase();
    const dump = engine === 'mysql9' ? fixture.dump.map(asMysql) : fixture.dump;
    await loadDump(providerOf(engine), String(database.settings.url), dump);
  }
  panel = await startTestPanel({ folder, now, database, config: { writeBehind: WRITE_BEHIND } });
  client = new SignedClient({ address: panel.apiAddress, kid: 'local', secret: secretOf('local'), now });
});

afterAll(async () => {
  await client?.close();
  await panel?.stop();
  await database?.drop();
});

/** A dump of MariaDB as the same build made it on MySQL, which names the collation in its own way. */
function asMysql(statement: string): string {
  return statement.replaceAll('utf8mb4_nopad_bin', 'utf8mb4_0900_bin');
}

const find = (namespace: string, table: string) =>
  client.must<{ rows: object[] }>('find', { namespace, table, sort: [{ field: 'id', dir: 'asc' }] });

it('reads every row and schema digit for digit, and answers repeated keys as the first time', async () => {
  expect(await readAll(client)).toEqual(fixture.answers);
});

it('applies the writes that waited in the journal, once and in order', async () => {
  expect((await find('stats', 'scores')).rows).toEqual(SCORES_ONCE);
  await client.must('update', KEYED_QUEUED);
  await client.must('insert', KEYED);
  await client.must('flush', { namespace: 'stats' });
  expect((await find('stats', 'scores')).rows).toEqual(SCORES_ONCE);
});

it('lists the dead letters', async () => {
  const { writeBuffer } = await client.must<{ writeBuffer: object }>('health', {});
  expect(writeBuffer).toMatchObject({ pending: 0, halted: false, deadLetters: 1, available: true });
});

it('restores what is in quarantine', async () => {
  const { database: settings } = loadConfig(writeConfig(folder, {}, database?.settings), {});
  const own = await openEngine({ ...settings, poolSize: 2 }, { log: () => {}, now });
  try {
    const quarantine = new Quarantine({ engine: own, now, log: () => {} });
    const objects = tablesFirst(await quarantine.list());
    expect(objects.map(({ kind, table, rows }) => [kind, table, rows])).toEqual([
      ['table', 'notes', 2],
      ['column', 'players', 2],
    ]);
    for (const object of objects) await quarantine.restore(object);
    const bounds = { deadline: performance.now() + 30_000 };
    const letters = await own.queues.listLetters(null, bounds);
    expect(letters).toMatchObject([{ namespace: 'stats', op: 'insert' }]);
  } finally {
    await own.close();
  }
  const { rows } = await client.must<{ rows: object[] }>('find', { namespace: 'game', table: 'notes' });
  expect(rows).toEqual([{ text: 'milk' }, { text: 'bread' }]);
  expect((await find('game', 'players')).rows).toEqual([
    { id: 1, name: 'Bea', motto: 'kept' },
    { id: 2, name: 'Cem', motto: 'none' },
  ]);
});

it('goes on with the keys that the database generates', async () => {
  const inserted = await client.must('insert', { namespace: 'game', table: 'players', rows: [{ name: 'Dora' }] });
  expect(inserted).toEqual({ inserted: 1, ids: [3] });
});

it('signs old accounts in, and goes on with old sessions', async () => {
  const browser = panel.client();
  for (const [name, value] of fixture.cookies) browser.cookies.set(name, value);
  expect(await browser.session()).toMatchObject({ authenticated: true, username: 'owner' });
  expect(await panel.client().login('owner', 'wrong')).toMatchObject({ status: 401 });
  for (const username of ['owner', 'reader']) {
    expect(await panel.client().login(username, PASSWORD)).toMatchObject({ status: 200 });
  }
});

it('shows the settings, the audit and the charts', async () => {
  const owner = await panel.owner();
  const { body } = await owner.get('/api/settings');
  expect(body.settings).toMatchObject({ dashboardName: 'Old Harbour' });
  const { entries } = (await owner.get<{ entries: object[] }>('/api/audit')).body;
  expect(entries).toContainEqual(
    expect.objectContaining({ username: 'owner', action: 'settings', time: new Date(WRITTEN_AT).toISOString() }),
  );
  const { from, stepSeconds, series } = (await owner.get<Charts>('/api/charts?range=1h')).body;
  const point = (WRITTEN_AT - Date.parse(from)) / (stepSeconds * 1000);
  expect(series.calls[point]).toBeGreaterThan(0);
});

interface Charts {
  readonly from: string;
  readonly stepSeconds: number;
  readonly series: { readonly calls: readonly (number | null)[] };
}
