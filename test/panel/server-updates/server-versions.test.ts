import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ServerVersions } from '#panel/server-updates/server-versions.ts';
import { PanelSettings } from '#panel/settings/panel-settings.ts';
import type { ServerStatus } from '#panel/shapes/server.ts';
import { openPanelStore, type PanelStore } from '#panel/store/panel-store.ts';
import { testFolder } from '#support/test-folder.ts';

let store: PanelStore;
let versions: ServerVersions;
let asked: string[];

beforeEach(() => {
  store = openPanelStore(join(testFolder(), 'panel.sqlite'));
  asked = [];
  const server = {
    status: () => statusOf('running'),
    start: (actor: string) => asked.push(`start by ${actor}`),
    restart: (actor: string) => asked.push(`restart by ${actor}`),
  };
  versions = new ServerVersions({ settings: new PanelSettings(store), server, now: Date.now, provenMs: 40 });
});
afterEach(() => {
  versions.close();
  store.close();
});

function statusOf(state: ServerStatus['state'], changes: Partial<ServerStatus> = {}): ServerStatus {
  return { state, hungSince: null, exit: null, failure: null, ...changes } as ServerStatus;
}

/** The server starts with this version. */
function startsWith(version: string): void {
  versions.choose(version);
  versions.beforeStart();
  versions.follow(statusOf('starting'));
  versions.follow(statusOf('running'));
}

const kept = async (version: string) => {
  startsWith(version);
  await expect.poll(() => versions.choice.isOnTrial, { interval: 5 }).toBe(false);
};

it('a version that runs for its time is kept', async () => {
  startsWith('1');
  expect(versions.choice).toMatchObject({ current: '1', isOnTrial: true, last: null });
  await kept('1');
  expect(versions.choice.last).toMatchObject({ target: '1', outcome: 'kept', reason: '' });
  expect(asked).toEqual([]);
});

it('a stop inside of that time decides nothing: the next run is the proof', async () => {
  startsWith('1');
  for (const state of ['stopping', 'stopped'] as const) versions.follow(statusOf(state));
  const began = performance.now();
  await expect.poll(() => performance.now() - began, { interval: 5 }).toBeGreaterThan(80);
  expect(versions.choice).toMatchObject({ current: '1', isOnTrial: true, last: null });
  versions.beforeStart();
  versions.follow(statusOf('running'));
  await expect.poll(() => versions.choice.last?.outcome, { interval: 5 }).toBe('kept');
});

it.each<[string, ServerStatus, string, string]>([
  ['does not answer', statusOf('running', { hungSince: new Date().toISOString() }), 'it did not answer', 'restart'],
  [
    'crashes',
    statusOf('crashed', { exit: { code: 9, signal: null, reason: 'crash' } }),
    'it crashed (exit code 9)',
    'start',
  ],
  ['cannot be started', statusOf('crashed', { failure: 'no such file' }), 'no such file', 'start'],
])('a version that %s is taken back once, and the one before it runs', async (_what, status, reason, how) => {
  await kept('1');
  startsWith('2');
  versions.follow(status);
  expect(versions.choice).toMatchObject({ current: '1', previous: '2', isOnTrial: false });
  expect(versions.choice.last).toMatchObject({ target: '2', outcome: 'takenBack', reason });
  await expect.poll(() => asked).toEqual([`${how} by The panel`]);
  versions.follow(status);
  expect(versions.choice).toMatchObject({ current: '1', previous: '2' });
});

it('the version that runs, chosen again, keeps the way back to the one before it', async () => {
  await kept('1');
  await kept('2');
  startsWith('2');
  expect(versions.choice).toMatchObject({ current: '2', previous: '1', pending: null, isOnTrial: true });
  versions.follow(statusOf('crashed', { failure: 'no such file' }));
  expect(versions.choice).toMatchObject({ current: '1', previous: '2' });
});

it('the first version has none to go back to: it stays, and nothing is started', () => {
  startsWith('1');
  versions.follow(statusOf('crashed', { failure: 'no such file' }));
  expect(versions.choice).toMatchObject({ current: '1', previous: null, isOnTrial: false });
  expect(versions.choice.last).toMatchObject({ target: '1', outcome: 'takenBack' });
  expect(asked).toEqual([]);
});
