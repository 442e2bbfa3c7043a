import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '#scripts/servers/free-port.ts';
import { openPromtool, type Promtool, type Verdict } from '#support/promtool.ts';
import { testFolder } from '#support/test-folder.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';
import { fakeLine } from '../support/server-rig.ts';

/** Figures of the game server in the sidecar's own /metrics, and the files for Prometheus and Grafana that ask for them. */

const GRAFANA = new URL('../../../docs/grafana/', import.meta.url);
const ALERTS = fileURLToPath(new URL('alerts.yaml', GRAFANA));
const DASHBOARD = readFileSync(new URL('dashboard.json', GRAFANA), 'utf8');
const METRIC = /\b(?:panel|sidecar|process)_[a-z_]+/g;
const SERIES_OF_HISTOGRAM = /_(?:bucket|sum|count)$/;

let promtool: Promtool;
let panel: TestPanel;
let owner: PanelClient;

beforeAll(async () => {
  promtool = await openPromtool();
  const serverRoot = join(testFolder(), 'game');
  const port = await freePort();
  mkdirSync(serverRoot);
  writeFileSync(join(serverRoot, 'server.cfg'), `endpoint_add_tcp "0.0.0.0:${port}"\n`);
  const startLine = fakeLine('--http', String(port));
  panel = await startTestPanel({
    config: { writeBehind: { namespaces: { game: {} } }, backup: { at: '04:30' } },
    settings: { backend: 'fxserver', serverRoot, startLine, stopLine: 'quit', autoStartServer: false },
  });
  owner = await panel.owner();
  await panel.panel.begin();
});

afterAll(() => panel.stop());

async function metrics(): Promise<string> {
  return (await fetch(`${panel.apiAddress}/metrics`)).text();
}

/** A figure as Prometheus reads it. */
async function figure(name: string): Promise<number> {
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await metrics())?.[1]);
}

const state = () => panel.services.server.control.status().state;

describe('/metrics', () => {
  it('counts the starts and crashes of the server, and its players', async () => {
    expect([await figure('panel_server_up'), await figure('panel_players')]).toEqual([0, 0]);
    await owner.post('/api/server/start');
    await expect.poll(state).toBe('running');
    expect(await figure('panel_server_up')).toBe(1);
    await expect.poll(() => figure('panel_players')).toBe(1);
    await owner.post('/api/command', { text: 'crash 7' });
    await expect.poll(state).toBe('crashed');
    await owner.post('/api/server/start');
    await expect.poll(state).toBe('running');
    expect([await figure('panel_server_starts_total'), await figure('panel_server_crashes_total')]).toEqual([2, 1]);
  });

  it('has the next planned restart, and 0 without one', async () => {
    expect(await figure('panel_next_restart_timestamp_seconds')).toBe(0);
    const entry = { name: 'x', action: 'restart', when: { kind: 'once', at: '2099-03-30T05:00' }, timeZone: 'UTC' };
    await owner.post('/api/schedule/save', entry);
    expect(await figure('panel_next_restart_timestamp_seconds')).toBe(Date.UTC(2099, 2, 30, 5) / 1000);
  });

  it('has no figure of a server that something else runs', async () => {
    await owner.post('/api/server/force-stop');
    await expect.poll(state).toBe('stopped');
    panel.services.settings.update({ backend: 'none' });
    expect([await figure('panel_server_up'), await figure('panel_players')]).toEqual([Number.NaN, Number.NaN]);
    expect(await metrics()).toMatch(/^panel_server_up NaN$/m);
  });

  it('is what Prometheus accepts', async () => {
    expect(promtool(['check', 'metrics'], await metrics())).toEqual({ code: 0, output: '' });
    expect(promtool(['check', 'metrics'], 'panel_players{ 1\n').code).not.toBe(0);
  });
});

describe('docs/grafana', () => {
  it('asks only for what /metrics has', async () => {
    const types = new Set([...(await metrics()).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
    const asked = new Set([...(DASHBOARD + readFileSync(ALERTS, 'utf8')).matchAll(METRIC)].map(([name]) => name));
    const missing = [...asked].filter((name) => !types.has(name) && !types.has(name.replace(SERIES_OF_HISTOGRAM, '')));
    expect(missing).toEqual([]);
    expect([...asked].filter((name) => name.startsWith('panel_')).toSorted()).toEqual([
      'panel_next_restart_timestamp_seconds',
      'panel_players',
      'panel_server_crashes_total',
      'panel_server_starts_total',
      'panel_server_up',
    ]);
  });

  it('has rules and expressions that Prometheus accepts', () => {
    expect(promtool(['check', 'rules', ALERTS])).toMatchObject({ code: 0, output: expect.stringMatching('SUCCESS') });
    const { panels } = JSON.parse(DASHBOARD) as { panels: { title: string; targets: { expr: string }[] }[] };
    const rules = panels
      .flatMap(({ targets }) => targets)
      .map(({ expr }, index) => ({
        ...{ record: `panel:${index}`, expr: expr.replaceAll('$__rate_interval', '1m') },
      }));
    const file = join(testFolder(), 'rules.yaml');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    expect(promtool(['check', 'rules', file])).toMatchObject({ code: 0 });
  });

  it('has a dashboard whose panels lie side by side, each with an id of its own', () => {
    const { panels } = JSON.parse(DASHBOARD) as { panels: { id: number; gridPos: Grid }[] };
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).toBe(24);
  });

  it('has alerts that fire when they must, and not before', () => {
    for (const minutes of [1, 30]) {
      const rows = ALERT_ROWS.filter(({ firing }) => firing > 1000 === minutes > 1);
      const tests = rows.map(({ alert, series, quiet, firing }) => ({
        interval: '1m',
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        promql_expr_test: [isFiring(alert, quiet, 0), isFiring(alert, firing, 1)],
      }));
      expect(testRules(tests, minutes)).toMatchObject({ code: 0, output: expect.stringMatching('SUCCESS') });
    }
  });

  it('has no alert about a server that is well, or that something else runs', () => {
    const well = {
      'up{job="sidecar"}': '1x60',
      panel_server_up: `1x30 ${'NaN '.repeat(30)}`,
      panel_server_crashes_total: '0x60',
      panel_next_restart_timestamp_seconds: '0x30 99999999x30',
      sidecar_write_buffer_halted: '0x60',
      sidecar_journal_available: '1x60',
      sidecar_backup_sent_timestamp_seconds: '0x60',
    };
    const input_series = Object.entries(well).map(([series, values]) => ({ series, values }));
    const promql_expr_test = [{ expr: 'ALERTS', eval_time: '59m', exp_samples: [] }];
    expect(testRules([{ interval: '1m', input_series, promql_expr_test }], 1)).toMatchObject({ code: 0 });
  });
});

interface Grid {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

interface AlertRow {
  readonly alert: string;
  /** Values from minute 0 on, one a minute. */
  readonly series: Readonly<Record<string, string>>;
  /** Minutes at which it must not fire, and must fire. */
  readonly quiet: number;
  readonly firing: number;
}

const DURATION = 'sidecar_request_duration_seconds_bucket{operation="find",le=';
const ALERT_ROWS: readonly AlertRow[] = [
  { alert: 'SidecarDown', series: { 'up{job="sidecar"}': '1 0x10' }, quiet: 2, firing: 4 },
  { alert: 'GameServerDown', series: { panel_server_up: '1x5 0x20' }, quiet: 9, firing: 12 },
  { alert: 'GameServerCrashed', series: { panel_server_crashes_total: '0x10 1x30' }, quiet: 9, firing: 12 },
  { alert: 'GameServerCrashesAgain', series: { panel_server_crashes_total: '0x10 1 2 3 4x80' }, quiet: 11, firing: 16 },
  { alert: 'PlannedRestartLate', series: { panel_next_restart_timestamp_seconds: '600x60' }, quiet: 19, firing: 21 },
  { alert: 'QueueHalted', series: { sidecar_write_buffer_halted: '0x5 1x20' }, quiet: 5, firing: 8 },
  { alert: 'QueueHalted', series: { sidecar_write_buffer_lost: '0x5 1x20' }, quiet: 5, firing: 8 },
  { alert: 'JournalUnavailable', series: { sidecar_journal_available: '1x5 0x20' }, quiet: 5, firing: 8 },
  { alert: 'QueueSlow', series: { sidecar_write_buffer_oldest_age_seconds: '1x5 90x20' }, quiet: 9, firing: 12 },
  { alert: 'DeadLetters', series: { sidecar_write_buffer_dead_letters: '3x10 4x30' }, quiet: 9, firing: 12 },
  {
    alert: 'CallsSlow',
    series: { [`${DURATION}"0.5"}`]: '0x40', [`${DURATION}"1"}`]: '0+9x40', [`${DURATION}"+Inf"}`]: '0+9x40' },
    ...{ quiet: 9, firing: 15 },
  },
  { alert: 'BackupOld', series: { sidecar_backup_newest_timestamp_seconds: '0x2400' }, quiet: 2190, firing: 2280 },
  { alert: 'BackupNotSent', series: { sidecar_backup_sent_timestamp_seconds: '1x2400' }, quiet: 2190, firing: 2280 },
  { alert: 'DrillFailed', series: { sidecar_backup_drill_failed: '0x5 1x20' }, quiet: 5, firing: 7 },
];

/** A question of a rule test: how many alerts of this name fire at a minute. */
function isFiring(alert: string, minute: number, count: number): object {
  const expr = `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`;
  return { expr, eval_time: `${minute}m`, exp_samples: [{ labels: '{}', value: count }] };
}

/** Runs the alerts on given series, and looks at them every so many minutes. */
function testRules(tests: readonly object[], minutes: number): Verdict {
  const file = join(testFolder(), 'tests.yaml');
  writeFileSync(file, JSON.stringify({ rule_files: [ALERTS], evaluation_interval: `${minutes}m`, tests }));
  return promtool(['test', 'rules', file]);
}
