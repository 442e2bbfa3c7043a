import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { needs } from '#panel/http/route.ts';
import type { PanelUpdatesAnswer } from '#panel/shapes/updates.ts';
import type { HelloMessage, ToKeeper } from '#sidecar/keeper/channel/messages.ts';
import { VERSION } from '#sidecar/program-folder.ts';
import { testFolder } from '#support/test-folder.ts';
import { FakeKeeper } from '../support/fake-keeper.ts';
import { PASSWORD, type PanelClient, startTestPanel, type TestPanel, type TestPanelOptions } from '../support/panel.ts';
import { newReleaseKey } from '../support/releases.ts';
import { isGone } from '../support/server-rig.ts';
import { smallRelease } from '../support/small-release.ts';

const NEXT = '9.1.0';
const FORMATS = { panel: 1, database: 2, journal: 1 };
/** Passes the judgement before it is unpacked. */
const MAIN = `console.log(${JSON.stringify(JSON.stringify({ version: NEXT, keeper: 1, formats: FORMATS }))});\n`;
const BUSY = { status: 409, body: { error: 'update.busy' } };

const key = newReleaseKey();
const panels: TestPanel[] = [];

afterEach(async () => {
  for (const panel of panels.splice(0)) await panel.stop();
});

interface UpdateWorld {
  readonly panel: TestPanel;
  readonly owner: PanelClient;
  readonly keeper: FakeKeeper;
}

async function open(hello: Partial<HelloMessage> = {}, options: TestPanelOptions = {}): Promise<UpdateWorld> {
  const keeper = new FakeKeeper(hello);
  const config = { panel: { updates: { keys: [key.publicKey] } } };
  const panel = await startTestPanel({ config, start: { keeper: keeper.link }, ...options });
  panels.push(panel);
  return { panel, keeper, owner: await panel.owner() };
}

const updatesOf = async (owner: PanelClient) => (await owner.get<PanelUpdatesAnswer>('/api/updates')).body;

async function ended(owner: PanelClient): Promise<PanelUpdatesAnswer> {
  // Also inside of hooks.
  return await vi.waitFor(
    async () => {
      const answer = await updatesOf(owner);
      expect(answer.status?.endedAt).toEqual(expect.any(String));
      return answer;
    },
    { timeout: 30_000, interval: 10 },
  );
}

/** With a release that is unpacked and verified. */
async function openStaged(): Promise<UpdateWorld> {
  const world = await open();
  const inbox = join(world.panel.folder, 'data/updates/inbox');
  mkdirSync(inbox, { recursive: true });
  writeFileSync(join(inbox, 'release.zip'), smallRelease(key, { files: { 'main.js': MAIN } }));
  expect((await world.owner.post('/api/updates/download')).status).toBe(200);
  expect(await ended(world.owner)).toMatchObject({ status: { state: 'succeeded' } });
  return world;
}

const copiesIn = ({ folder }: TestPanel) =>
  readdirSync(join(folder, 'data/updates')).filter((name) => name.endsWith('.sqlite'));

const orderTo = ({ sent }: FakeKeeper) =>
  sent.find((message): message is Extract<ToKeeper, { type: 'apply' }> => message.type === 'apply')?.update;

describe('a change of the release', () => {
  it('is ordered from the keeper, and no account may act until it is over', async () => {
    const { panel, owner, keeper } = await openStaged();
    const viewer = await panel.account('viewer', ['console.read']);
    expect(await owner.post('/api/updates/apply', { target: NEXT })).toMatchObject({ status: 200 });
    // From the acceptance on.
    expect(await owner.post('/api/logout')).toMatchObject(BUSY);
    await expect.poll(() => orderTo(keeper)).toMatchObject({ to: NEXT, raises: false });
    expect(copiesIn(panel)).toHaveLength(1);
    const posts = panel.panel.routes.filter(({ method, access }) => method === 'POST' && access.kind !== 'public');
    expect(posts.length).toBeGreaterThan(50);
    for (const { path } of posts) {
      const answer = await owner.post(path.replaceAll(/:\w+/g, 'x'), 'no body that any route takes');
      expect({ path, status: answer.status, error: answer.body.error }).toEqual({
        path,
        status: 409,
        error: 'update.busy',
      });
    }
    // After the permission, before the switch, which is off; reading and the sign-in go on.
    expect((await viewer.post('/api/server/stop')).body).toMatchObject({ error: 'permission.missing' });
    expect((await owner.get('/api/bundle-tools')).body).toMatchObject({ error: 'bundleTools.disabled' });
    expect((await updatesOf(owner)).updates.isApplying).toBe(true);
    expect((await panel.client().login('viewer', PASSWORD)).status).toBe(200);
    keeper.says({ type: 'notApplied', reason: 'ENOSPC' });
    const { status } = await ended(owner);
    expect(status).toMatchObject({ state: 'failed', message: expect.stringMatching(/ENOSPC/) });
    // The copy that a way back would have needed is gone.
    await expect.poll(() => copiesIn(panel)).toEqual([]);
    expect((await owner.post('/api/settings', { dashboardName: 'again' })).status).toBe(200);
  });

  it('is ordered without data/updates, which somebody has removed', async () => {
    const { panel, owner, keeper } = await openStaged();
    rmSync(join(panel.folder, 'data/updates'), { recursive: true });
    expect(await owner.post('/api/updates/apply', { target: NEXT })).toMatchObject({ status: 200 });
    await expect.poll(() => orderTo(keeper)).toMatchObject({ to: NEXT });
    expect(copiesIn(panel)).toHaveLength(1);
  });

  it('on trial lets no account act until it is committed', async () => {
    const { owner, keeper } = await open({ trial: 'a'.repeat(24), release: NEXT });
    expect(await owner.post('/api/settings', { dashboardName: 'x' })).toMatchObject(BUSY);
    const end = { id: 'a'.repeat(24), from: null, to: NEXT, outcome: 'committed', reason: '', lines: [] } as const;
    keeper.says({ type: 'committed', end: { ...end, at: new Date().toISOString() } });
    expect((await owner.post('/api/settings', { dashboardName: 'x' })).status).toBe(200);
    expect((await updatesOf(owner)).updates).toMatchObject({ isApplying: false, previous: VERSION });
  });

  it('waits for no job and no server: while one runs, or the server starts, it is refused', async () => {
    const { panel, owner, keeper } = await openStaged();
    const { jobs, accounts, settings, server } = panel.services;
    const held = Promise.withResolvers<void>();
    jobs.define({
      ...{ kind: 'test.hold', lane: 'work', access: needs('settings.write'), subjects: () => ['held'] },
      run: () => held.promise.then(() => ({})),
    });
    const accountId = accounts.idOf('owner');
    const permissions = accounts.byId(accountId)?.permissions ?? new Set();
    const { id } = jobs.start('test.hold', {}, { accountId, username: 'owner', permissions });
    expect(await owner.post('/api/updates/apply')).toMatchObject({ status: 409, body: { error: 'jobs.running' } });
    held.resolve();
    await expect.poll(() => jobs.hasEnded(id)).toBe(true);
    settings.update({ backend: 'standalone', serverRoot: panel.folder });
    // The fake keeper starts nothing, so that the server stays in this state.
    expect(server.control.start('owner').state).toBe('starting');
    expect(await owner.post('/api/updates/apply')).toMatchObject({ status: 409, body: { error: 'server.busy' } });
    expect(await owner.post('/api/updates/rollback')).toMatchObject({ status: 409, body: { error: 'server.busy' } });
    keeper.says({ type: 'refused', run: 1, reason: 'the end of the test' });
  });

  it('goes back to the release before, the program that was started first', async () => {
    const folder = testFolder();
    // The keeper has written its choice there.
    mkdirSync(join(folder, 'data/updates'), { recursive: true });
    const { owner, keeper } = await open({ release: NEXT, previous: null }, { folder });
    expect((await updatesOf(owner)).updates.previous).toBe(VERSION);
    expect((await owner.post('/api/updates/rollback')).status).toBe(200);
    await expect.poll(() => orderTo(keeper)).toMatchObject({ to: null, raises: false });
  });

  it('below a game server that has started this sidecar is refused', async () => {
    const { owner } = await open({}, { start: { isEmbedded: true } });
    expect((await updatesOf(owner)).updates.refusal).toBe('update.embedded');
    for (const action of ['apply', 'rollback']) {
      const refused = { status: 409, body: { error: 'update.embedded' } };
      expect(await owner.post(`/api/updates/${action}`)).toMatchObject(refused);
    }
  });
});

describe('a release that was changed after it was verified', () => {
  let world: UpdateWorld;
  let release: string;
  let verified: string;

  beforeAll(async () => {
    world = await openStaged();
    panels.splice(0);
    release = join(world.panel.folder, 'data/releases', NEXT);
    verified = join(testFolder(), NEXT);
    cpSync(release, verified, { recursive: true });
  });
  afterAll(() => world.panel.stop());
  beforeEach(() => {
    rmSync(release, { recursive: true });
    cpSync(verified, release, { recursive: true });
  });

  it.each<[string, (release: string) => void, string?]>([
    ['got a file more', (release) => writeFileSync(join(release, 'more.js'), '')],
    [
      'got a file more in a new folder',
      (release) => {
        mkdirSync(join(release, 'lib'));
        writeFileSync(join(release, 'lib/more.js'), '');
      },
    ],
    ['got a link', (release) => symlinkSync('/etc/passwd', join(release, 'passwd'))],
    ['lost a file', (release) => rmSync(join(release, 'main.js'))],
    ['got another file', (release) => writeFileSync(join(release, 'main.js'), `${MAIN}\n// swapped`)],
    [
      'got a link in place of a file',
      (release) => {
        const elsewhere = join(testFolder(), 'main.js');
        linkSync(join(release, 'main.js'), elsewhere);
        rmSync(join(release, 'main.js'));
        symlinkSync(elsewhere, join(release, 'main.js'));
      },
    ],
    ['lost its manifest', (release) => rmSync(join(release, 'RELEASE.json'))],
    ['lost its signature', (release) => rmSync(join(release, 'RELEASE.sig')), 'update.unsigned'],
  ])('does not begin: it %s', async (_what, change, error = 'update.invalid') => {
    change(release);
    expect((await world.owner.post('/api/updates/apply')).status).toBe(200);
    expect((await ended(world.owner)).status).toMatchObject({ state: 'failed', error });
    expect(orderTo(world.keeper)).toBeUndefined();
  });
});

it('a release that hangs when it is tried out ends with its job', async () => {
  const { panel, owner } = await open();
  const pidFile = join(panel.folder, 'pid');
  const hangs = `require('node:fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setInterval(() => {}, 1e6);`;
  mkdirSync(join(panel.folder, 'data/updates/inbox'), { recursive: true });
  const release = smallRelease(key, { files: { 'main.js': hangs } });
  writeFileSync(join(panel.folder, 'data/updates/inbox/release.zip'), release);
  await owner.post('/api/updates/download');
  const pid = () => (existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : 0);
  await expect.poll(pid).toBeGreaterThan(0);
  expect((await owner.post('/api/updates/cancel')).status).toBe(200);
  expect(await ended(owner)).toMatchObject({ status: { state: 'cancelled' }, updates: { staged: null } });
  await expect.poll(() => isGone(pid())).toBe(true);
  expect(readdirSync(join(panel.folder, 'data/releases'))).toEqual([]);
});

it.each([true, false])('looks into the inbox at the start if the owner wants it: %s', async (autoUpdateChecks) => {
  const folder = testFolder();
  mkdirSync(join(folder, 'data/updates/inbox'), { recursive: true });
  writeFileSync(join(folder, 'data/updates/inbox/release.zip'), smallRelease(key));
  const { owner } = await open({}, { folder, settings: { autoUpdateChecks } });
  const looked = async () => (await updatesOf(owner)).updates;
  if (autoUpdateChecks) await expect.poll(async () => (await looked()).newest?.version).toBe(NEXT);
  else expect(await looked()).toMatchObject({ checkedAt: null, newest: null });
});
