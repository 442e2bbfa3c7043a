import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Charts, type WatchedServer } from '#panel/charts/charts.ts';
import type { ServerState, ServerStatus } from '#panel/shapes/server.ts';
import { openPanelStore, type PanelStore } from '#panel/store/panel-store.ts';
import { testFolder } from '#support/test-folder.ts';

const DAY_MS = 86_400_000;
/** A whole hour. */
const NOON = Date.parse('2026-11-23T12:00:00.000Z');

class FakeServer implements WatchedServer {
  state: ServerState = 'stopped';
  pid: number | null = null;
  players: number | null = null;
  #listener: (status: ServerStatus) => void = () => {};

  status(): ServerStatus {
    const { state, pid } = this;
    const rest = { serverRoot: '', startedAt: null, exit: null, plan: null, hungSince: null, gaveUp: null };
    const start = { failure: null, missing: null };
    return { state, pid, backend: 'command', ...rest, ...start };
  }

  health() {
    return { players: this.players };
  }

  onStatus(listener: (status: ServerStatus) => void): void {
    this.#listener = listener;
  }

  become(state: ServerState): void {
    this.state = state;
    this.#listener(this.status());
  }
}

let folder = '';
let store: PanelStore;
let server: FakeServer;
let now = NOON;
let charts: Charts;
let serverPid: number | null = null;
let troubles: unknown[] = [];

function open(): void {
  store = openPanelStore(join(folder, 'panel.sqlite'));
  server = new FakeServer();
  charts = new Charts({
    ...{ store, server, now: () => now, onTrouble: (error) => troubles.push(error) },
    serverPid,
    usage: async (pid) => ({ processor: pid, memory: pid * 1000 }),
  });
}

async function close(): Promise<void> {
  await charts.close();
  store.close();
}

beforeEach(() => {
  folder = testFolder();
  now = NOON;
  troubles = [];
  open();
});

afterEach(async () => {
  if (store.open) await close();
});

/** `count` samples, ten seconds apart; the last one at `now`. */
async function samples(count: number, before: (index: number) => void = () => {}): Promise<void> {
  for (let i = 0; i < count; i++) {
    before(i);
    await charts.sample();
    now += 10_000;
  }
  now -= 10_000;
}

const known = (list: readonly (number | null)[]) => list.filter((value) => value !== null);

it('another range is refused', () => {
  for (const range of ['2h', '', '1h ', '__proto__']) {
    expect(() => charts.read(range)).toThrow(expect.objectContaining({ key: 'charts.range' }));
  }
});

it('every series has every point of the range, and null where nothing is known', async () => {
  server.pid = 7;
  server.players = 32;
  await samples(3);
  const lengths: Record<string, number> = {};
  for (const range of ['1h', '6h', '24h', '7d']) {
    const { series, from, stepSeconds } = charts.read(range);
    lengths[range] = series.serverMemory.length;
    for (const list of Object.values(series)) expect(list).toHaveLength(series.serverMemory.length);
    expect(Date.parse(from) + series.serverMemory.length * stepSeconds * 1000).toBeGreaterThan(now);
    expect(known(series.players)).toContain(32);
    expect(known(series.serverMemory)).toContain(7000);
  }
  expect(lengths).toEqual({ '1h': 360, '6h': 360, '24h': 288, '7d': 336 });
  const { series } = charts.read('1h');
  expect(series.players.slice(-3)).toEqual([32, 32, 32]);
  expect(series.players[0]).toBeNull();
  expect(series.latencyP50.slice(-1)).toEqual([null]);
});

it('a server that does not run uses nothing; the sidecar always does', async () => {
  await samples(1);
  const { series } = charts.read('1h');
  expect(known(series.serverProcessor)).toEqual([]);
  expect(known(series.sidecarMemory)[0]).toBeGreaterThan(1_000_000);
});

it('a server that the panel does not run, but knows, is shown too', async () => {
  await close();
  serverPid = 5;
  open();
  serverPid = null;
  await samples(1);
  expect(known(charts.read('1h').series.serverMemory)).toEqual([5000]);
});

it('a file that takes nothing more is told, and disturbs neither the server nor the next sample', async () => {
  store.close();
  await charts.sample();
  server.become('running');
  await charts.sample();
  expect(troubles).toHaveLength(3);
});

it('calls become a rate, with their latency', async () => {
  for (let i = 0; i < 99; i++) charts.countCall(2, false);
  charts.countCall(400, true);
  await samples(1);
  const { series } = charts.read('1h');
  expect(known(series.calls)[0]).toBeGreaterThan(0);
  expect(known(series.failures)[0]).toBeCloseTo((known(series.calls)[0] ?? 0) / 100, 0);
  expect(known(series.latencyP50)[0]).toBeGreaterThanOrEqual(2);
  expect(known(series.latencyP50)[0]).toBeLessThan(3);
});

it('coarser points keep the peak of memory, players and slow calls, and the mean of the processor', async () => {
  await samples(60, (i) => {
    server.pid = i === 30 ? 100 : 10;
    server.players = i === 5 ? 64 : 1;
    charts.countCall(i === 7 ? 900 : 1, false);
  });
  const { series } = charts.read('7d');
  expect(Math.max(...known(series.players))).toBe(64);
  expect(Math.max(...known(series.serverMemory))).toBe(100_000);
  expect(Math.max(...known(series.latencyP99))).toBeGreaterThanOrEqual(900);
  expect(Math.max(...known(series.serverProcessor))).toBeCloseTo(11.5, 1);
  expect(Math.max(...known(series.latencyP50))).toBeLessThan(200);
});

it('samples and marks outlive a restart', async () => {
  server.players = 5;
  await samples(2);
  server.become('starting');
  await close();
  now += 60_000;
  open();
  const { series, marks } = charts.read('1h');
  expect(known(series.players)).toEqual([5, 5]);
  expect(marks).toEqual([{ time: '2026-11-23T12:00:10.000Z', kind: 'start' }]);
});

it('what happened to the server is marked once: a start, a stop, a crash, and not each step on the way', () => {
  for (const state of ['starting', 'running', 'running', 'stopping', 'stopped'] as const) server.become(state);
  for (const state of ['starting', 'crashed', 'starting', 'running'] as const) server.become(state);
  expect(charts.read('1h').marks.map(({ kind }) => kind)).toEqual(['start', 'stop', 'start', 'crash', 'start']);
});

it('a clock that is set back a year leaves nothing behind of what has not been yet', async () => {
  server.players = 1;
  await samples(3);
  now -= 365 * DAY_MS;
  await samples(3);
  expect(known(charts.read('1h').series.players)).toEqual([1, 1, 1]);
  expect(rows()).toBeLessThan(10);
});

it('however long it runs, samples and marks take the room of a few thousand', async () => {
  for (let i = 0; i < 1400; i++) {
    await charts.sample();
    now += 600_000;
  }
  // Two hours, a day and two hours, and eight days of ten minutes each.
  expect(rows()).toBeLessThanOrEqual(13 + 157 + 1153);
  for (let i = 0; i < 2100; i++) server.become(i % 2 === 0 ? 'running' : 'stopped');
  const { n } = store.prepare('SELECT count(*) AS n FROM chart_marks').get() as { n: number };
  expect(n).toBe(2000);
  expect(charts.read('7d').marks).toHaveLength(200);
});

function rows(): number {
  return (store.prepare('SELECT count(*) AS n FROM chart_samples').get() as { n: number }).n;
}
