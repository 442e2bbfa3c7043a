import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CrashRecord, CrashSummary } from '#panel/shapes/crashes.ts';
import type { ServerState, ServerStatus } from '#panel/shapes/server.ts';
import { testFolder } from '#support/test-folder.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';
import { fakeLine, isGone } from '../support/server-rig.ts';

interface StatusAnswer {
  readonly ok: boolean;
  readonly error?: string;
  readonly status: ServerStatus;
}

let panel: TestPanel;
let owner: PanelClient;
let viewer: PanelClient;

beforeAll(async () => {
  const folder = testFolder();
  const serverRoot = join(folder, 'game');
  mkdirSync(serverRoot);
  panel = await startTestPanel({
    folder,
    settings: {
      ...{ backend: 'command', serverRoot, startLine: fakeLine(), stopLine: 'quit' },
      ...{ stopWaitSeconds: 10, killWaitSeconds: 10 },
    },
  });
  owner = await panel.owner();
  viewer = await panel.account('viewer', ['console.read']);
});

afterAll(() => panel.stop());

beforeEach(async () => {
  await owner.post('/api/server/force-stop');
  await reaches('stopped');
});

async function status(): Promise<ServerStatus> {
  return (await owner.get<StatusAnswer>('/api/status')).body.status;
}

async function reaches(state: ServerState): Promise<ServerStatus> {
  await expect.poll(async () => (await status()).state, { interval: 10 }).toBe(state);
  return status();
}

function lines(): string[] {
  return panel.services.logs.console.latest(1000).map(({ stream, text }) => `${stream} ${text}`);
}

/** Up, and reading its input. */
async function start(): Promise<number> {
  const readies = () => lines().filter((line) => line.startsWith('out ready')).length;
  const before = readies();
  const answer = await owner.post<StatusAnswer>('/api/server/start');
  expect(answer).toMatchObject({ status: 200, body: { ok: true } });
  await expect.poll(readies, { interval: 10 }).toBe(before + 1);
  return (await status()).pid ?? 0;
}

async function refusal(client: PanelClient, path: string, body?: object): Promise<[number, unknown]> {
  const answer = await client.post(path, body);
  return [answer.status, answer.body.error];
}

describe('refused, and nothing is done, is', () => {
  it('whoever has not the permission of just that action', async () => {
    const actions = ['start', 'stop', 'restart', 'force-stop'].map((action) => `/api/server/${action}`);
    for (const path of actions) expect(await refusal(viewer, path)).toEqual([403, 'permission.missing']);
    expect(await refusal(viewer, '/api/command', { text: 'say hi' })).toEqual([403, 'permission.missing']);
    expect((await viewer.get('/api/crashes')).status).toBe(403);
    expect((await status()).state).toBe('stopped');
  });

  it('an action that there is not, and a body that no action has', async () => {
    expect((await owner.post('/api/server/explode')).status).toBe(404);
    expect(await refusal(owner, '/api/server/start', { line: 'rm -rf /' })).toEqual([400, 'body.malformed']);
    expect((await owner.get('/api/server/start')).status).toBe(405);
    expect((await status()).state).toBe('stopped');
  });

  it('what does not fit the state; what is wrong in itself is told before that', async () => {
    expect(await refusal(owner, '/api/server/stop')).toEqual([409, 'server.stopped']);
    expect(await refusal(owner, '/api/command', { text: 'say hi' })).toEqual([409, 'server.stopped']);
    for (const text of ['a\nquit', '', 7, undefined, 'x'.repeat(4097)]) {
      expect(await refusal(owner, '/api/command', { text })).toEqual([400, 'command.text']);
    }
    await start();
    expect(await refusal(owner, '/api/server/start')).toEqual([409, 'server.running']);
  });

  it('a crash record that there is not', async () => {
    for (const id of ['0', '999', 'x', '1%20OR%201', '..%2f1']) {
      expect((await owner.get(`/api/crashes/${id}`)).body).toMatchObject({ ok: false, error: 'crashes.unknown' });
    }
  });
});

describe('the server', () => {
  it('is started, written to and stopped, and each is told at once to whoever watches', async () => {
    const events = await panel.events(viewer);
    const pid = await start();
    await owner.post('/api/command', { text: 'say <b>hello</b>' });
    await expect.poll(lines).toContain('out did say <b>hello</b>');
    expect(lines()).toContain('in owner> say <b>hello</b>');
    const { body } = await owner.post<StatusAnswer>('/api/server/stop');
    expect(body.status).toMatchObject({ state: 'stopping', pid, backend: 'command' });
    expect(body.status.plan?.steps.map(({ action }) => action)).toEqual(['ask', 'terminate', 'kill']);
    expect(await reaches('stopped')).toMatchObject({ pid: null, exit: { code: 0, signal: null, reason: 'asked' } });
    const states = () => events.of('status').map((data) => (data as ServerStatus).state);
    await expect.poll(() => states().at(-1)).toBe('stopped');
    expect(states()).toEqual(expect.arrayContaining(['starting', 'running', 'stopping']));
  });

  it('ends in one clear state after fifty clicks at once', async () => {
    const first = await start();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => owner.post<StatusAnswer>('/api/server/restart')),
    );
    const keys = answers.map(({ body }) => body.error ?? 'accepted');
    expect(new Set(keys)).toEqual(new Set(['accepted', 'server.busy']));
    const { pid } = await reaches('running');
    expect(pid).not.toBe(first);
    expect(isGone(first)).toBe(true);
    const mixed = ['start', 'stop', 'restart', 'force-stop', 'stop'];
    await Promise.all(Array.from({ length: 50 }, (_none, click) => owner.post(`/api/server/${mixed[click % 5]}`)));
    await owner.post('/api/server/stop');
    await reaches('stopped');
    expect(isGone(pid ?? 0)).toBe(true);
  });

  it('has what was done to it in the audit log, by name, and not what was typed', async () => {
    await start();
    await owner.post('/api/command', { text: 'set password hunter2' });
    await viewer.post('/api/server/stop');
    const entries = panel.services.audit.page(null, 3);
    expect(entries.map(({ username, action, subject, result }) => [username, action, subject, result])).toEqual([
      ['viewer', 'server.stop', '', 'permission.missing'],
      ['owner', 'console.command', 'set', 'ok'],
      ['owner', 'server.start', '', 'ok'],
    ]);
    expect(panel.log.join('\n')).not.toContain('hunter2');
  });
});

describe('a crash', () => {
  it('has a record to read and to keep', async () => {
    await start();
    await owner.post('/api/command', { text: 'crash 7' });
    expect((await reaches('crashed')).exit).toEqual({ code: 7, signal: null, reason: 'crash' });
    const { crashes } = (await owner.get<{ crashes: CrashSummary[] }>('/api/crashes')).body;
    expect(crashes[0]).toMatchObject({ exit: { code: 7 }, wasUp: true });
    const path = `/api/crashes/${crashes[0]?.id}`;
    const { crash } = (await owner.get<{ crash: CrashRecord }>(path)).body;
    expect(crash.lines.map(({ text }) => text)).toContain('owner> crash 7');
    expect(crash.actions.map(({ username, action }) => [username, action])).toContainEqual(['owner', 'server.start']);
    const file = await owner.get(`${path}?download=true`);
    expect(file.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(file.headers['content-disposition']).toBe(`attachment; filename="crash-${crash.id}.txt"`);
    expect(file.text).toMatch(/The server crashed \(exit code 7\)/);
    expect(file.text).toMatch(/owner> crash 7/);
  });
});
