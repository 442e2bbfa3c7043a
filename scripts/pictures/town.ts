import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ChartStore } from '#panel/charts/chart-store.ts';
import { commit, newRepository, setBranch } from '../../test/panel/merging/repository.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../../test/panel/support/panel.ts';
import { newReleaseKey, type ReleaseKey } from '../../test/panel/support/releases.ts';
import { smallRelease } from '../../test/panel/support/small-release.ts';
import { secretOf } from '../../test/support/config-folder.ts';
import { SignedClient } from '../../test/support/signed-client.ts';
import { shopFiles, writeTown } from './town-files.ts';

export interface Town {
  readonly panel: TestPanel;
  readonly owner: PanelClient;
  stop(): Promise<void>;
}

const SIDECAR_MAIN = fileURLToPath(new URL('../../dist/sidecar/main.js', import.meta.url));
const HOUR_S = 3600;
const STEP_S = 10;

/** A whole sidecar with a standalone server, and what a town has gathered in some weeks. */
export async function startTown(): Promise<Town> {
  // The desk of backups starts the program of its process.
  process.argv[1] = SIDECAR_MAIN;
  const serverRoot = join(tmpdir(), 'harbour');
  // Shown on the pages; a folder of somebody else is not touched.
  mkdirSync(serverRoot);
  writeTown(serverRoot);
  const key = newReleaseKey();
  const panel = await startTestPanel({
    config: { panel: { updates: { keys: [key.publicKey] } } },
    settings: { backend: 'standalone', serverRoot, dashboardName: 'Harbour RP', bundleTools: true },
  });
  const owner = await panel.owner();
  const api = new SignedClient({ address: panel.apiAddress, kid: 'local', secret: secretOf('local') });
  const { tools } = panel.services.settings.values;
  panel.services.settings.update({ tools: { ...tools, gateSeconds: 1 } });
  putRelease(panel, key);
  await panel.panel.begin();
  await fillTables(api);
  await panel.account('mira', ['console.read', 'console.write', 'server.restart', 'players.kick']);
  await panel.account('jonas', ['bundles.read', 'logs.read', 'console.read']);
  await plan(owner);
  await tell(owner);
  await makeTokens(owner);
  await makeProject(panel);
  await owner.post('/api/server/start');
  // Samples of a machine that makes pictures are those of no town.
  panel.services.charts.close();
  drawHour(panel);
  return {
    ...{ panel, owner },
    async stop() {
      await api.close();
      await panel.stop();
      rmSync(serverRoot, { recursive: true });
    },
  };
}

function putRelease(panel: TestPanel, key: ReleaseKey): void {
  const inbox = join(panel.folder, 'data/updates/inbox');
  mkdirSync(inbox, { recursive: true });
  const manifest = { version: '0.3.0', date: new Date().toISOString().slice(0, 10) };
  writeFileSync(join(inbox, 'sidecar-0.3.0.zip'), smallRelease(key, { manifest }));
}

/** Charts of the last hour: more players towards now, a crash and the start after it. */
function drawHour(panel: TestPanel): void {
  const charts = new ChartStore(panel.services.store);
  const end = Math.floor(Date.now() / 1000 / STEP_S) * STEP_S;
  const crashAt = end - 0.55 * HOUR_S;
  for (let time = end - HOUR_S; time <= end; time += STEP_S) {
    const [age, wave] = [(time - (end - HOUR_S)) / HOUR_S, Math.sin(time / 97) + Math.sin(time / 31) / 2];
    const isUp = time < crashAt || time > crashAt + 60;
    const calls = isUp ? 40 + 60 * age + 12 * wave : 1;
    charts.add(time, {
      ...{ serverProcessor: isUp ? 22 + 9 * age + 3 * wave : 0, serverMemory: isUp ? (300 + 140 * age) * 2 ** 20 : 0 },
      ...{ sidecarProcessor: 4 + 3 * age + wave, sidecarMemory: (110 + 8 * age) * 2 ** 20, calls, failures: 0 },
      ...{ latencyP50: 0.7 + 0.2 * wave * wave, latencyP99: 3 + wave * wave, players: isUp ? 20 + 18 * age : 0 },
    });
  }
  charts.mark(crashAt * 1000, 'crash');
  charts.mark((crashAt + 60) * 1000, 'start');
}

const NAMES = [
  'Zoë Winter',
  'Max Sommer',
  'Ines Duarte',
  'Kofi Mensah',
  'Yuki Tanaka',
  'Lena Vogt',
  'Tom Avery',
  'Ada Novak',
];

async function fillTables(api: SignedClient): Promise<void> {
  const characters = {
    name: 'characters',
    primaryKey: ['id'],
    columns: [
      { name: 'id', type: 'int64' },
      { name: 'name', type: 'string', length: 80 },
      { name: 'money', type: 'decimal', precision: 20, scale: 2, default: 0 },
      { name: 'job', type: 'string', length: 20, nullable: true },
      { name: 'is_jailed', type: 'bool', default: false },
      { name: 'last_seen', type: 'datetime', nullable: true },
    ],
  };
  const column = (name: string) => ({ name, type: 'string', length: 40 });
  const vehicles = { name: 'vehicles', primaryKey: ['plate'], columns: ['plate', 'model', 'colour'].map(column) };
  const houses = { name: 'houses', primaryKey: ['address'], columns: ['address', 'owner'].map(column) };
  await api.must('schema.sync', { namespace: 'game', schema: { tables: [characters, houses] } });
  await api.must('schema.extend', { namespace: 'game', part: 'garage', schema: { tables: [vehicles] } });
  const rows = Array.from({ length: 420 }, (_, index) => ({
    ...{ id: 1001 + index, name: NAMES[index % NAMES.length], money: String(180 + ((index * 7919) % 40_000) / 4) },
    ...{ job: ['fisher', 'police', 'medic', null][index % 4], is_jailed: index % 23 === 7 },
    last_seen: new Date(Date.now() - index * 5_400_000).toISOString().replace(/\.\d+/, ''),
  }));
  await api.must('insert', { namespace: 'game', table: 'characters', rows });
  const cars = Array.from({ length: 90 }, (_, index) => ({
    plate: `HB ${4000 + index}`,
    model: 'Dory',
    colour: 'blue',
  }));
  await api.must('insert', { namespace: 'game', table: 'vehicles', rows: cars });
}

async function plan(owner: PanelClient): Promise<void> {
  const timeZone = 'Europe/Berlin';
  const daily = { kind: 'weekly', days: [1, 2, 3, 4, 5, 6, 7] };
  const entries = [
    { name: 'Early restart', action: 'restart', when: { ...daily, times: ['05:00'] } },
    { name: 'Nightly backup', action: 'backup', when: { ...daily, times: ['04:45'] } },
    {
      name: 'Market day',
      action: 'command',
      text: 'say The market opens!',
      when: { ...daily, days: [6], times: ['18:00'] },
    },
  ];
  for (const entry of entries) await must(owner, '/api/schedule/save', { timeZone, ...entry });
}

async function tell(owner: PanelClient): Promise<void> {
  const quiet = { from: '23:00', to: '07:00', timeZone: 'Europe/Berlin', errors: true };
  const targets = [
    { name: 'Team on Discord', kind: 'discord', url: 'https://discord.com/api/webhooks/1/x', quiet },
    {
      name: 'On-call phone',
      kind: 'webhook',
      url: 'https://hooks.harbour.example/panel',
      events: ['server.crashed', 'server.gaveUp', 'backup.failed'],
    },
    { name: 'Log of the house', kind: 'command', line: '/usr/local/bin/note --source panel' },
  ];
  for (const target of targets) await must(owner, '/api/notices/save', target);
}

async function makeTokens(owner: PanelClient): Promise<void> {
  const { PASSWORD: password } = await import('../../test/panel/support/quick-account.ts');
  const tokens = [
    { name: 'Restart from the phone', permissions: ['server.restart', 'console.read'] },
    { name: 'Status page', permissions: ['console.read'], addresses: ['203.0.113.0/24'] },
  ];
  for (const token of tokens) await must(owner, '/api/tokens/create', { addresses: [], ...token, password });
}

/** A project whose branch `autumn` has changed what `main` changed too. */
async function makeProject(panel: TestPanel): Promise<void> {
  const repository = await newRepository(join(panel.folder, 'data/bundle-tools/sources'), 'shop');
  const root = await commit(repository, shopFiles({}), null, 'mira');
  const base = await commit(repository, shopFiles({ bread: '9' }), root, 'mira');
  const head = await commit(repository, shopFiles({ bread: '10', lantern: '22', discount: '0.1' }), root, 'jonas');
  await setBranch(repository, 'main', base);
  await setBranch(repository, 'autumn', head);
  panel.services.projectStore.save({
    ...{ name: 'shop', origin: null, account: null, branch: 'main', commit: base, root: '', build: null },
    ...{ workflow: { workflow: 'direct', branch: 'main', approvals: 1 }, fetchedAt: null },
  });
}

async function must(owner: PanelClient, path: string, body: object): Promise<void> {
  const { status, text } = await owner.post(path, body);
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
}
