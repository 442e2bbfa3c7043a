import { existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobAnswer } from '#panel/shapes/jobs.ts';
import type { ServerUpdatesAnswer } from '#panel/shapes/server-updates.ts';
import { testFolder } from '#support/test-folder.ts';
import { LEFT_JOB, leaveJob } from '../support/left-job.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

const FAKE = fileURLToPath(new URL('../support/fake-game-server.ts', import.meta.url));

let folder: string;
let root: string;
let panel: TestPanel;
let owner: PanelClient;

const inbox = (...path: string[]) => join(root, 'server-updates/inbox', ...path);
const versions = (...path: string[]) => join(root, 'server-updates/versions', ...path);
const view = async () => (await owner.get<ServerUpdatesAnswer>('/api/server-updates')).body;
const jobOf = async (id: string) => (await owner.get<JobAnswer>(`/api/bundle-tools/jobs/${id}`)).body.status;

/** A version of the fake server; `mark` tells two of one name apart. */
function putVersion(path: string, mark: string): void {
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'server.ts'), `// ${mark}\nawait import(${JSON.stringify(FAKE)});\n`);
}

const markOf = (target: string) => /\/\/ (.*)/.exec(readFileSync(versions(target, 'server.ts'), 'utf8'))?.[1];

async function start(): Promise<void> {
  panel = await startTestPanel({
    folder,
    settings: {
      ...{ backend: 'command', serverRoot: root, stopLine: 'quit', autoStartServer: false },
      startLine: `"${process.execPath}" "{server}/server.ts"`,
    },
  });
  owner = await panel.owner();
}

async function done(action: string, body: object): Promise<void> {
  const answer = await owner.post<{ status: { id: string } }>(`/api/server-updates/${action}`, body);
  expect(answer.status, answer.text).toBe(200);
  await expect.poll(async () => (await jobOf(answer.body.status.id)).endedAt).not.toBeNull();
}

/** Ends the panel, changes its files as a kill at a moment leaves them, and starts it; resolves when the job has ended. */
async function killed(leave: () => void): Promise<Awaited<ReturnType<typeof jobOf>>> {
  await panel.stop();
  leave();
  await start();
  await expect.poll(async () => (await jobOf(LEFT_JOB)).endedAt).not.toBeNull();
  return jobOf(LEFT_JOB);
}

beforeEach(async () => {
  folder = testFolder();
  root = join(folder, 'game');
  mkdirSync(inbox(), { recursive: true });
  await start();
});
afterEach(() => panel.stop());

describe('an apply that kill -9 has cut off', () => {
  beforeEach(() => putVersion(versions('2'), 'new'));
  const apply = { kind: 'serverUpdates.apply', input: { target: '2', isNow: true } };

  it.each([['before'], ['after']])('%s the version was chosen: it starts with the next start', async (when) => {
    if (when === 'after') panel.services.serverVersions.choose('2');
    const { state, outcome } = await killed(() => leaveJob(folder, apply));
    expect({ state, outcome }).toEqual({ state: 'succeeded', outcome: { target: '2', state: 'pending' } });
    expect((await view()).updates).toMatchObject({ pending: '2', current: null });
    await owner.post('/api/server/start');
    await expect.poll(async () => (await view()).updates.current).toBe('2');
  });

  it('before it switched: nothing was changed, and it can be sent again', async () => {
    const { state, message } = await killed(() => leaveJob(folder, { ...apply, isCommitted: false }));
    expect([state, message]).toEqual(['failed', 'the sidecar ended while this job ran; nothing was changed']);
    expect((await view()).updates).toMatchObject({ pending: null, current: null });
    await done('apply', { target: '2' });
    expect((await view()).updates.pending).toBe('2');
  });

  it('after the version had started and was taken back: it is not chosen again', async () => {
    panel.services.serverVersions.choose('2');
    panel.services.serverVersions.beforeStart();
    const { choice } = panel.services.serverVersions;
    const last = { target: '2', outcome: 'takenBack', reason: 'it crashed', at: new Date().toISOString() } as const;
    panel.services.settings.update({
      serverVersion: { ...choice, current: '1', previous: '2', isOnTrial: false, last },
    });
    const { state, message } = await killed(() => leaveJob(folder, apply));
    expect([state, message]).toEqual(['failed', 'the sidecar ended meanwhile; 2 was taken back: it crashed']);
    expect((await view()).updates).toMatchObject({ pending: null, current: '1' });
  });
});

describe('an unpacking that kill -9 has cut off', () => {
  const download = { kind: 'serverUpdates.download', input: { target: '2' } };
  beforeEach(() => {
    putVersion(inbox('2'), 'new');
    putVersion(versions('2'), 'old');
  });

  it('before it switched: the version of this name is the old one, and it can be repeated', async () => {
    const { state } = await killed(() => {
      leaveJob(folder, { ...download, isCommitted: false });
      putVersion(versions('.staging-0123456789ab'), 'half');
    });
    expect([state, markOf('2')]).toEqual(['failed', 'old']);
    await done('download', { target: '2' });
    expect([markOf('2'), readdirSync(versions())]).toEqual(['new', ['2']]);
  });

  it('between its two renames: the version of this name is the new one, and nothing else is left', async () => {
    const { state } = await killed(() => {
      leaveJob(folder, download);
      putVersion(versions('.staging-0123456789ab'), 'new');
      putVersion(versions('.staging-0123456789ab.old'), 'old');
    });
    expect([state, markOf('2'), readdirSync(versions())]).toEqual(['succeeded', 'new', ['2']]);
  });
});

describe('an unpacking that is cancelled', () => {
  it('leaves nothing of it, keeps the version of its name, and the next one runs', async () => {
    putVersion(inbox('2'), 'new');
    putVersion(versions('2'), 'old');
    writeFileSync(inbox('2', 'big'), '');
    truncateSync(inbox('2', 'big'), 700 * 2 ** 20);
    const { body } = await owner.post<{ status: { id: string } }>('/api/server-updates/download', { target: '2' });
    const parts = () => readdirSync(versions()).filter((name) => name.startsWith('.staging-'));
    await expect.poll(parts, { interval: 5 }).toHaveLength(1);
    expect((await owner.post('/api/server-updates/cancel')).status).toBe(200);
    await expect.poll(async () => (await jobOf(body.status.id)).endedAt).not.toBeNull();
    expect(await jobOf(body.status.id)).toMatchObject({
      ...{ state: 'cancelled', message: 'cancelled by owner; nothing was changed' },
    });
    expect([markOf('2'), readdirSync(versions())]).toEqual(['old', ['2']]);
    truncateSync(inbox('2', 'big'), 10);
    await done('download', { target: '2' });
    expect([markOf('2'), readdirSync(versions())]).toEqual(['new', ['2']]);
  });
});

it('the version that waits for the next start is not unpacked again under it', async () => {
  putVersion(inbox('2'), 'new');
  putVersion(versions('2'), 'old');
  await done('apply', { target: '2' });
  await done('download', { target: '2' });
  expect((await view()).status).toMatchObject({ state: 'failed', error: 'serverUpdates.target' });
  expect(markOf('2')).toBe('old');
  expect(existsSync(versions('2'))).toBe(true);
});
