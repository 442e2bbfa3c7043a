import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { secretOf } from '#support/config-folder.ts';
import { SignedClient } from '#support/signed-client.ts';
import { testFolder } from '#support/test-folder.ts';
import { startTestPanel, type TestPanel } from './panel.ts';

export interface LivedInPanel extends TestPanel {
  /** The signed API of the same sidecar. */
  readonly api: SignedClient;
  readonly serverRoot: string;
}

/** A name that a player chose, and that would be markup where a page took it for that. */
export const HOSTILE = '<img src=x onerror="document.title=\'hacked\'">';
/** No double holds it. */
export const BIG_ID = '9007199254740993';

/** A panel with a standalone server, bundles, tables with rows, failed writes and something in quarantine. `section`: of sidecar.json. */
export async function startLivedInPanel(section: Readonly<Record<string, unknown>> = {}): Promise<LivedInPanel> {
  const serverRoot = testFolder();
  writeBundles(serverRoot);
  const panel = await startTestPanel({
    config: { panel: section, writeBehind: { namespaces: { stats: { consistentReads: true } }, flushIntervalMs: 50 } },
    settings: { backend: 'standalone', serverRoot, dashboardName: 'Harbour RP', killWaitSeconds: 1 },
  });
  const api = new SignedClient({ address: panel.apiAddress, kid: 'local', secret: secretOf('local') });
  await fillTables(api);
  await failWrites(api);
  return {
    ...panel,
    ...{ api, serverRoot },
    async stop() {
      await api.close();
      await panel.stop();
    },
  };
}

function writeBundles(root: string): void {
  const bundle = (name: string, manifest: object, code = 'export default () => {};') => {
    const folder = join(root, 'bundles', name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'bundle.json'), JSON.stringify({ version: '1.0.0', server: 'server.js', ...manifest }));
    writeFileSync(join(folder, 'server.js'), code);
  };
  bundle('base', { version: '2.4.1', description: 'What all others stand on', tags: ['core'] });
  bundle('jobs', { description: 'Work for everybody', dependencies: ['base'], tags: ['economy', 'core'] });
  bundle('fishing', { description: HOSTILE, dependencies: ['jobs'], tags: ['economy'] });
  bundle('casino', { description: 'Closed for now', autostart: false });
  bundle('police', { description: 'Fails on purpose' }, 'export default () => { throw new Error("no radio"); };');
}

const PLAYERS = {
  name: 'players',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int64' },
    { name: 'name', type: 'string', length: 80, unique: true },
    { name: 'money', type: 'decimal', precision: 20, scale: 2, default: 0 },
    { name: 'is_banned', type: 'bool', default: false },
    { name: 'job', type: 'string', length: 20, nullable: true, oneOf: ['fisher', 'police', 'medic'] },
    { name: 'inventory', type: 'json', nullable: true },
    { name: 'last_seen', type: 'datetime', nullable: true },
  ],
};
const VEHICLES = {
  name: 'vehicles',
  primaryKey: ['plate'],
  columns: [
    { name: 'plate', type: 'string', length: 8 },
    { name: 'owner_id', type: 'int64' },
    { name: 'colour', type: 'string', length: 20, nullable: true },
  ],
};
const NOTES = { name: 'notes', columns: [{ name: 'text', type: 'text' }] };

async function fillTables(api: SignedClient): Promise<void> {
  const schema = {
    tables: [
      PLAYERS,
      { ...VEHICLES, columns: [...VEHICLES.columns, { name: 'mileage', type: 'float64', nullable: true }] },
      NOTES,
    ],
  };
  await api.must('schema.sync', { namespace: 'game', schema });
  await api.must('schema.sync', { namespace: 'game', schema: { tables: [PLAYERS, VEHICLES, NOTES] } });
  const rows = Array.from({ length: 120 }, (_, index) => ({
    ...{ id: index + 1, name: `Player ${index + 1}`, money: index * 12.5, is_banned: index % 17 === 0 },
    ...{ job: ['fisher', 'police', null][index % 3], last_seen: '2026-11-22T20:15:00Z' },
    inventory: index % 4 === 0 ? { bread: 2, keys: ['ABC 123'] } : null,
  }));
  await api.must('insert', { namespace: 'game', table: 'players', rows });
  await api.must('insert', { namespace: 'game', table: 'notes', rows: [{ text: 'remember the milk' }] });
  // By its text, since the id must not become a double on its way here either.
  const row = `{"id":${BIG_ID},"name":${JSON.stringify(HOSTILE)},"money":"0.10","inventory":{"serial":${BIG_ID}}}`;
  await api.must('insert', `{"namespace":"game","table":"players","rows":[${row}]}`);
}

/** Writes that the queue takes and the database refuses. */
async function failWrites(api: SignedClient): Promise<void> {
  const kills = { name: 'kills', primaryKey: ['id'], columns: [{ name: 'id', type: 'int32' }] };
  await api.must('schema.sync', { namespace: 'stats', schema: { tables: [kills] } });
  for (const id of [1, 2, 1, 2]) {
    await api.must('insert', { namespace: 'stats', table: 'kills', rows: [{ id }] });
    await api.must('flush', { namespace: 'stats' });
  }
}
