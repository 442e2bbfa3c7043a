import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { JobAnswer, JobView } from '#panel/shapes/jobs.ts';
import type { ProjectView } from '#panel/shapes/sources.ts';
import { RemoteRepositories } from '#panel/sources/git/remote-repository.ts';
import { Repository } from '#panel/sources/git/repository.ts';
import { describeIf } from '#support/describe-if.ts';
import {
  GIT_TOKEN,
  GIT_USER,
  type GitServer,
  noGitServer,
  type ServedRepository,
  startGitServer,
} from '#support/git-server.ts';
import { testFolder } from '#support/test-folder.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

const BASE = '/api/bundle-tools';
const manifest = (version: string) => JSON.stringify({ name: 'shop', version, main: 'main.js' });

describeIf(noGitServer, 'source projects', () => {
  let panel: TestPanel;
  let owner: PanelClient;
  let server: GitServer;
  let served: ServedRepository;
  let root: string;
  let first: string;

  beforeAll(async () => {
    server = await startGitServer(testFolder());
    root = testFolder();
    mkdirSync(join(root, 'bundles'));
    panel = await startTestPanel({
      config: { panel: { caFile: server.caFile } },
      settings: { backend: 'standalone', serverRoot: root },
    });
    await panel.panel.begin();
    owner = await panel.owner();
    await owner.post('/api/settings', { bundleTools: true });
    await owner.post(`${BASE}/settings`, { gitHosts: [server.host], privateHosts: [server.host] });
    const account = { name: 'main', kind: 'git', url: server.origin, username: GIT_USER, token: GIT_TOKEN };
    expect((await owner.post(`${BASE}/accounts/save`, account)).status).toBe(200);
    served = await server.make('shop');
    first = served.commit({ 'bundle.json': manifest('1.0.0'), 'main.js': '1\n', 'docs/a.md': 'x' });
  });

  afterAll(async () => {
    await panel.stop();
    await server.stop();
  });

  const act = (action: string, body: object, client = owner) =>
    client.post<{ status: JobView; error: string; refs: unknown; project: ProjectView }>(
      `${BASE}/projects/${action}`,
      body,
    );
  const projects = async () =>
    (await owner.get<{ projects: ProjectView[]; removed: { id: string }[] }>(`${BASE}/projects`)).body;
  const project = async (name = 'shop') => (await projects()).projects.find((each) => each.name === name);

  async function ended(action: string, body: object): Promise<JobAnswer & { outcome: Record<string, unknown> }> {
    const started = await act(action, body);
    expect(started.body.error).toBeUndefined();
    const { id } = started.body.status;
    const read = async () => (await owner.get<JobAnswer>(`${BASE}/jobs/${id}`)).body;
    await expect
      .poll(async () => ['queued', 'running'].includes((await read()).status.state), { interval: 20 })
      .toBe(false);
    const answer = await read();
    return { ...answer, outcome: answer.status.outcome as Record<string, unknown> };
  }

  it('are imported with the token of an account, which no log shows', async () => {
    const { status, outcome, log } = await ended('import', { name: 'shop', url: served.url, account: 'main' });
    expect(status).toMatchObject({ state: 'succeeded', kind: 'projects.import' });
    expect(outcome).toEqual({ branch: 'main', commit: first });
    expect(JSON.stringify(log)).not.toContain(GIT_TOKEN);
    expect(await project()).toEqual({
      ...{ name: 'shop', origin: served.url, account: 'main', branch: 'main', commit: first, root: '', build: null },
      ...{
        workflow: { workflow: 'direct', branch: 'main', approvals: 1 },
        ahead: 0,
        behind: 0,
        installed: null,
        reviews: 0,
      },
      fetchedAt: expect.stringMatching(/^\d{4}-/),
    });
    expect(await act('import', { name: 'SHOP', url: served.url })).toMatchObject({
      status: 409,
      body: { error: 'bundleTools.exists' },
    });
  });

  it('are built as they lie in the repository, without a hook, a filter or a link', async () => {
    const { status, outcome } = await ended('build', { name: 'shop', apply: 'now', install: true });
    expect(status.state).toBe('succeeded');
    expect(outcome).toMatchObject({ bundles: [{ name: 'shop', from: null, to: '1.0.0', state: 'unproven' }] });
    expect(readFileSync(join(root, 'bundles/shop/docs/a.md'), 'utf8')).toBe('x');
    expect(await project()).toMatchObject({ installed: { version: '1.0.0', commit: first.slice(0, 12) } });
  });

  it('say what the remote has more, and take it when they are asked to', async () => {
    const second = served.commit({ 'bundle.json': manifest('1.1.0'), 'docs/a.md': null, 'docs/b.md': 'y' });
    const checked = await ended('check', { name: 'shop' });
    expect(checked.status.message).toBe('the remote has new commits of main: 1');
    expect(checked.outcome).toMatchObject({ state: 'forward', from: first, to: second, ahead: 0, behind: 1 });
    expect(checked.outcome.commits).toMatchObject([
      { commit: second, author: 'Ann', subject: expect.stringMatching(/^change/) },
    ]);
    expect(checked.outcome.files).toEqual([
      { path: 'bundle.json', status: 'changed' },
      { path: 'docs/a.md', status: 'removed' },
      { path: 'docs/b.md', status: 'added' },
    ]);
    expect(await project()).toMatchObject({ commit: first, behind: 1 });
    expect((await ended('pull', { name: 'shop' })).outcome).toMatchObject({ state: 'forward', to: second });
    expect(await project()).toMatchObject({ commit: second, behind: 0, ahead: 0 });
    const built = await ended('build', { name: 'shop', apply: 'now', install: true });
    expect(built.outcome).toMatchObject({ bundles: [{ from: '1.0.0', to: '1.1.0' }] });
    expect(existsSync(join(root, 'bundles/shop/docs/a.md'))).toBe(false);
  });

  it('have an empty list of packages without a package.json', async () => {
    const { status, body } = await owner.post('/api/bundle-tools/packages/info', { project: 'shop' });
    expect({ status, body }).toEqual({ status: 200, body: { ok: true, packages: [], checkedAt: null } });
  });

  it('go back to the version before', async () => {
    const { outcome } = await ended('rollback', { name: 'shop' });
    expect(outcome).toMatchObject({ bundles: [{ name: 'shop', from: '1.1.0', to: '1.0.0' }] });
    expect(readFileSync(join(root, 'bundles/shop/bundle.json'), 'utf8')).toContain('1.0.0');
  });

  it('list refs, and build the one that was checked out', async () => {
    served.git('tag', 'v1', first);
    served.commit({ 'dev.txt': '1' }, 'dev');
    await ended('check', { name: 'shop' });
    const { refs } = (await act('refs', { name: 'shop' })).body;
    expect(refs).toEqual(
      expect.arrayContaining([
        { name: 'v1', kind: 'tag', commit: first },
        { name: 'dev', kind: 'remote', commit: served.git('rev-parse', 'dev') },
      ]),
    );
    expect((await act('checkout', { name: 'shop', ref: 'v1' })).body.project).toMatchObject({
      commit: first,
      branch: 'main',
    });
    const dev = served.git('rev-parse', 'dev');
    expect((await act('checkout', { name: 'shop', ref: 'dev' })).body.project).toMatchObject({
      commit: dev,
      branch: 'dev',
      behind: 0,
    });
    expect((await act('checkout', { name: 'shop', ref: first })).body.project).toMatchObject({
      commit: first,
      branch: 'dev',
    });
    for (const ref of ['nothing', 'HEAD', 'main~1', '--all', first.slice(0, 12), '0'.repeat(40), 'refs/heads/main']) {
      expect(await act('checkout', { name: 'shop', ref })).toMatchObject({
        status: 400,
        body: { error: 'bundleTools.ref' },
      });
    }
    await act('checkout', { name: 'shop', ref: 'main' });
  });

  it('keep what was edited on the server as a commit, and show that both sides have moved', async () => {
    writeFileSync(join(root, 'bundles/shop/main.js'), 'edited\n');
    const made = await ended('create', { name: 'shop' });
    expect(made.outcome).toMatchObject({ changed: true, branch: 'main' });
    expect((await ended('create', { name: 'shop' })).outcome).toMatchObject({ changed: false });
    expect(await project()).toMatchObject({ commit: made.outcome.commit, ahead: 1 });
    const theirs = served.commit({ 'other.txt': 'z' });
    expect((await ended('pull', { name: 'shop' })).outcome).toMatchObject({
      state: 'diverged',
      ahead: 1,
      behind: 1,
      to: theirs,
    });
    expect(await project()).toMatchObject({ commit: made.outcome.commit });
  });

  it('begin with a bundle as it lies, and have no remote then', async () => {
    mkdirSync(join(root, 'bundles/own'));
    writeFileSync(
      join(root, 'bundles/own/bundle.json'),
      JSON.stringify({ name: 'own', version: '0.1.0', main: 'main.js' }),
    );
    writeFileSync(join(root, 'bundles/own/main.js'), '1');
    const { outcome } = await ended('create', { name: 'own' });
    expect(await project('own')).toMatchObject({
      origin: null,
      commit: outcome.commit,
      ahead: null,
      behind: null,
      fetchedAt: null,
    });
    expect(await act('pull', { name: 'own' })).toMatchObject({ status: 409, body: { error: 'bundleTools.local' } });
    expect((await ended('create', { name: 'nothing', bundle: 'nobody' })).status).toMatchObject({
      state: 'failed',
      error: 'bundles.unknown',
    });
  });

  it('follow no link of a bundle', async () => {
    mkdirSync(join(root, 'bundles/linked'));
    writeFileSync(join(root, 'bundles/linked/bundle.json'), '{}');
    symlinkSync('/etc/passwd', join(root, 'bundles/linked/passwd'));
    const { status } = await ended('create', { name: 'linked' });
    expect(status).toMatchObject({ state: 'failed', message: expect.stringContaining('passwd') });
    expect(await project('linked')).toBeUndefined();
    rmSync(join(root, 'bundles/linked'), { recursive: true });
  });

  it('go to the trash with their name as confirmation, and come back', async () => {
    expect(await act('remove', { name: 'own', confirm: 'shop' })).toMatchObject({
      status: 400,
      body: { error: 'bundleTools.confirm' },
    });
    await ended('remove', { name: 'own', confirm: 'own' });
    expect(await project('own')).toBeUndefined();
    expect(existsSync(join(root, 'bundles/own/bundle.json'))).toBe(true);
    const { removed } = await projects();
    expect(removed).toMatchObject([{ name: 'own', by: 'owner' }]);
    const restored = await act('restore', { id: removed[0]?.id });
    expect(restored.body.project).toMatchObject({ name: 'own' });
    expect((await act('refs', { name: 'own' })).body.refs).toMatchObject([{ name: 'main', kind: 'branch' }]);
    expect(await act('restore', { id: removed[0]?.id })).toMatchObject({ status: 404 });
  });

  it('remember that their token is refused, and what is installed stays', async () => {
    const url = server.origin;
    await owner.post(`${BASE}/accounts/save`, { name: 'main', kind: 'git', url, username: GIT_USER, token: 'revoked' });
    const { status, log } = await ended('pull', { name: 'shop' });
    expect(status).toMatchObject({ state: 'failed', error: 'bundleTools.credentials' });
    expect(JSON.stringify([status, log])).not.toContain('revoked');
    expect((await owner.get(BASE)).body.accounts).toMatchObject([
      { name: 'main', refusedSince: expect.stringMatching(/^\d{4}-/) },
    ]);
    await owner.post(`${BASE}/accounts/save`, { name: 'main', kind: 'git', url, username: GIT_USER, token: GIT_TOKEN });
    expect(await owner.post(`${BASE}/accounts/delete`, { name: 'main' })).toMatchObject({
      status: 409,
      body: { error: 'bundleTools.inUse' },
    });
  });

  it('need the right to an account before anything else is judged', async () => {
    const builder = await panel.account('builder', ['bundles.build']);
    expect(await act('import', { name: '../x', url: 'nonsense', account: 'main' }, builder)).toMatchObject({
      status: 403,
    });
    expect(await act('pull', { name: 'shop' }, builder)).toMatchObject({ status: 403 });
    expect(await act('import', { name: '../x', url: 'nonsense' }, builder)).toMatchObject({
      status: 400,
      body: { error: 'bundleTools.name' },
    });
  });

  it.each([
    ['name', { name: '../x' }, 400],
    ['name', { name: 'con' }, 400],
    ['name', { name: 'a..b' }, 400],
    ['url', { url: 'ext::sh -c id' }, 400],
    ['url', { url: 'file:///etc' }, 400],
    ['url', { url: '--upload-pack=id' }, 400],
    ['url', { url: 'https://me@localhost/x' }, 400],
    ['host', { url: 'https://forge.example/x' }, 409],
    ['host', { url: 'https://localhost/x' }, 409],
    ['branch', { branch: '--force' }, 400],
    ['root', { root: '../x' }, 400],
    ['build', { build: { script: '--x', output: 'dist' } }, 400],
    ['build', { build: { script: 'build', output: '../dist' } }, 400],
  ])('refuse a bad %s: %j', async (key, changes, status) => {
    const answer = await act('import', { name: 'bad', url: served.url, ...changes });
    expect(answer).toMatchObject({ status, body: { error: `bundleTools.${key}` } });
    expect(await project('bad')).toBeUndefined();
  });

  it.each([
    ['keep', { keep: ['a.lua', '../own/main.js'] }, 'keep.1'],
    ['keep', { keep: ['/etc/passwd'] }, 'keep.0'],
    ['category', { category: 'jobs' }, 'category'],
  ])('are not built with a bad %s: %j', async (key, changes, field) => {
    const answer = await act('build', { name: 'shop', apply: 'now', install: true, ...changes });
    expect(answer).toMatchObject({ status: 400, body: { error: `bundleTools.${key}`, field } });
  });

  it('send a token to addresses below its account alone', async () => {
    await owner.post(`${BASE}/accounts/save`, {
      name: 'narrow',
      kind: 'git',
      url: `${server.origin}/acme`,
      token: GIT_TOKEN,
    });
    for (const path of ['/shop.git', '/acme-evil/x.git', '/acme/../shop.git', '/acme/%2e%2e/shop.git']) {
      const answer = await act('import', { name: 'bad', url: `${server.origin}${path}`, account: 'narrow' });
      expect(answer, path).toMatchObject({ status: 400, body: { error: 'bundleTools.account' } });
    }
    expect(await act('import', { name: 'bad', url: `${server.origin}/x`, account: 'nobody' })).toMatchObject({
      status: 404,
    });
  });

  it('leave nothing behind when an import fails', async () => {
    const { status } = await ended('import', { name: 'gone', url: `${server.origin}/gone.git`, account: 'main' });
    expect(status.state).toBe('failed');
    const branch = await ended('import', { name: 'gone', url: served.url, account: 'main', branch: 'nowhere' });
    expect(branch.status).toMatchObject({ state: 'failed', error: 'bundleTools.branch' });
    const folder = await ended('import', { name: 'gone', url: served.url, account: 'main', root: 'nowhere' });
    expect(folder.status).toMatchObject({ state: 'failed', error: 'bundleTools.root' });
    expect(await project('gone')).toBeUndefined();
    expect((await ended('import', { name: 'gone', url: served.url, account: 'main', root: 'docs' })).status.state).toBe(
      'succeeded',
    );
    const built = await ended('build', { name: 'gone', apply: 'now', install: true });
    expect(built.status).toMatchObject({ state: 'failed', error: 'upload.manifest' });
    expect(existsSync(join(root, 'bundles/gone'))).toBe(false);
  });

  type Called = Record<string, (...args: unknown[]) => Promise<never>>;

  /** The next running job is cancelled when it has called the method. */
  function cancelAt(owned: object, method: string): void {
    const real = (owned as Called)[method] as Called[string];
    vi.spyOn(owned as Called, method).mockImplementationOnce(function (this: unknown, ...args) {
      const done = real.apply(this, args);
      const { caller } = panel.services.sessionReader.read({ headers: { cookie: owner.cookieHeader } });
      if (caller === null) throw new Error('the client has no session');
      const [job] = panel.services.jobs.list(caller).filter(({ state }) => state === 'running');
      panel.services.jobs.cancel(job?.id ?? '', caller);
      return done;
    });
  }

  const CANCELLED = { state: 'cancelled', message: 'cancelled by owner; nothing was changed' };

  it.each(['fetch', 'look'])('are gone when the import is cancelled in the step %s', async (step) => {
    cancelAt(RemoteRepositories.prototype, step);
    const { status } = await ended('import', { name: 'late', url: served.url, account: 'main' });
    expect(status).toMatchObject(CANCELLED);
    expect(await project('late')).toBeUndefined();
    expect(existsSync(join(panel.folder, 'data/bundle-tools/sources/late.git'))).toBe(false);
  });

  it.each([
    ['fetch', RemoteRepositories.prototype],
    ['counts', Repository.prototype],
  ])('stay at their commit when a pull is cancelled in the step %s', async (step, owned) => {
    if (step === 'fetch') await ended('import', { name: 'late', url: served.url, account: 'main' });
    const before = (await project('late'))?.commit;
    served.commit({ 'bundle.json': manifest('7.0.0'), 'main.js': `${step}\n` });
    cancelAt(owned, step);
    expect((await ended('pull', { name: 'late' })).status).toMatchObject(CANCELLED);
    expect((await project('late'))?.commit).toBe(before);
  });

  it('are not put in place when a build is cancelled in one of its steps, and can be built after it', async () => {
    for (const [owned, step] of [
      [Repository.prototype, 'tree'],
      [panel.services.installs.desk, 'list'],
    ] as const) {
      cancelAt(owned, step);
      expect((await ended('build', { name: 'late', apply: 'now', install: true })).status).toMatchObject(CANCELLED);
      expect(existsSync(join(root, 'bundles/late'))).toBe(false);
      expect(readdirSync(join(root, '.panel/staging'))).toEqual([]);
    }
    expect((await ended('pull', { name: 'late' })).status.state).toBe('succeeded');
    expect((await ended('build', { name: 'late', apply: 'now', install: true })).status.state).toBe('succeeded');
    expect(readFileSync(join(root, 'bundles/late/main.js'), 'utf8')).toBe('counts\n');
  });

  it('say which files are only pointers of Git LFS, whose content the panel does not fetch', async () => {
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 12345\n`;
    served.commit({
      'bundle.json': manifest('8.0.0'),
      'main.js': '8\n',
      'a.txt': 'version of mine',
      'art/logo.png': pointer,
    });
    await ended('pull', { name: 'late' });
    const { status, log } = await ended('build', { name: 'late', apply: 'now', install: true });
    expect(status.state).toBe('succeeded');
    const lines = log.map(({ text }) => text).filter((text) => text.includes('LFS'));
    expect(lines).toEqual(['1 files are pointers of Git LFS, whose content is not fetched: art/logo.png']);
  });
});
