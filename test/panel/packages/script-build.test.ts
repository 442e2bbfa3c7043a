import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { JobAnswer, JobView } from '#panel/shapes/jobs.ts';
import type { PackageView } from '#panel/shapes/packages.ts';
import { describeIf } from '#support/describe-if.ts';
import { type GitServer, noGitServer, type ServedRepository, startGitServer } from '#support/git-server.ts';
import { type NpmRegistry, noRegistry, packNpm, startRegistry } from '#support/npm-registry.ts';
import { testFolder } from '#support/test-folder.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

const BASE = '/api/bundle-tools';
const why = noGitServer ?? noRegistry;
const BUILD = `const { existsSync, mkdirSync, writeFileSync } = require('node:fs');
mkdirSync('dist', { recursive: true });
writeFileSync('dist/bundle.json', JSON.stringify({ name: 'shop', version: '2.0.0', main: 'main.js' }));
writeFileSync('dist/main.js', require('greet')());
writeFileSync('dist/seen.json', JSON.stringify({ env: process.env, cwd: process.cwd(), ran: existsSync('node_modules/word/ran') }));`;

describeIf(why, 'builds by a script', () => {
  let panel: TestPanel;
  let owner: PanelClient;
  let server: GitServer;
  let registry: NpmRegistry;
  let served: ServedRepository;
  let root: string;
  let npmVersion: string;

  beforeAll(async () => {
    [server, registry] = await Promise.all([startGitServer(testFolder()), startRegistry(testFolder())]);
    await registry.publish({
      name: 'greet',
      version: '1.0.0',
      files: { 'index.js': "module.exports = () => 'hello'" },
      manifest: { dependencies: { word: '^1.0.0' } },
    });
    await registry.publish({
      name: 'word',
      version: '1.0.0',
      files: { 'install.js': "require('fs').writeFileSync('ran', '')" },
      manifest: { scripts: { install: 'node install.js' } },
    });
    root = testFolder();
    mkdirSync(join(root, 'bundles'));
    vi.stubEnv('SIDECAR_TEST_SECRET', 'hunter2');
    panel = await startTestPanel({
      config: { panel: { caFile: server.caFile } },
      settings: { backend: 'standalone', serverRoot: root },
    });
    await panel.panel.begin();
    owner = await panel.owner();
    await owner.post('/api/settings', { bundleTools: true });
    const hosts = [server.host];
    await owner.post(`${BASE}/settings`, { gitHosts: hosts, privateHosts: hosts, registry: registry.url });
    served = await server.make('public/shop');
  });

  afterAll(async () => {
    vi.unstubAllEnvs();
    await panel.stop();
    await Promise.all([server.stop(), registry.stop()]);
  });

  async function ended(path: string, body: object): Promise<JobAnswer> {
    const started = await owner.post<{ status: JobView; error?: string; detail?: string }>(`${BASE}/${path}`, body);
    expect(started.body.error, started.body.detail).toBeUndefined();
    const read = async () => (await owner.get<JobAnswer>(`${BASE}/jobs/${started.body.status.id}`)).body;
    await expect
      .poll(async () => ['queued', 'running'].includes((await read()).status.state), { interval: 50, timeout: 90_000 })
      .toBe(false);
    return read();
  }

  const files = (changes: Record<string, string | null> = {}) => ({
    'package.json': JSON.stringify({
      name: 'x',
      version: '1.0.0',
      scripts: { build: 'node build.js' },
      dependencies: { greet: '^1.0.0' },
    }),
    'package-lock.json': lock(),
    'build.js': BUILD,
    ...changes,
  });

  function lock(changes: Readonly<Record<string, object>> = {}): string {
    const greet = { ...registry.locked('greet', '1.0.0'), dependencies: { word: '^1.0.0' } };
    const word = { ...registry.locked('word', '1.0.0'), hasInstallScript: true };
    const packages = {
      '': { name: 'x', version: '1.0.0', dependencies: { greet: '^1.0.0' } },
      ...{ 'node_modules/greet': greet, 'node_modules/word': word, ...changes },
    };
    return JSON.stringify({ name: 'x', version: '1.0.0', lockfileVersion: 3, requires: true, packages });
  }

  const build = (changes: object = {}) =>
    ended('projects/build', {
      name: 'shop',
      apply: 'now',
      install: true,
      build: { script: 'build', output: 'dist' },
      ...changes,
    });

  async function take(changes: Record<string, string | null>): Promise<void> {
    served.commit(files(changes));
    expect((await ended('projects/pull', { name: 'shop' })).status).toMatchObject({
      state: 'succeeded',
      outcome: { state: 'forward' },
    });
  }

  it('need an npm that is new enough, which comes from the inbox', async () => {
    served.commit(files());
    expect((await ended('projects/import', { name: 'shop', url: served.url })).status.state).toBe('succeeded');
    const missing = await build();
    const tools = async () =>
      (
        await owner.get<{ tools: { name: string; version: string | null; latest: string | null }[] }>(
          `${BASE}/tools/latest`,
        )
      ).body.tools;
    const npm = async () => (await tools()).find(({ name }) => name === 'npm');
    const isBeside = (await npm())?.version !== null;
    if (!isBeside) {
      expect(missing.status).toMatchObject({ state: 'failed', error: 'bundleTools.tool' });
      expect(await owner.post(`${BASE}/tools/install`, { name: 'npm' })).toMatchObject({
        status: 409,
        body: { error: 'bundleTools.tool' },
      });
    }
    npmVersion = await packNpm(join(panel.folder, 'data/bundle-tools/inbox'));
    expect(await npm()).toMatchObject({ latest: npmVersion });
    const { status, log } = await ended('tools/install', { name: 'npm' });
    expect(status).toMatchObject({ state: 'succeeded', outcome: { version: npmVersion } });
    expect(JSON.stringify(log)).toContain('sha512-');
    expect(await npm()).toMatchObject({ version: npmVersion });
    for (const name of ['git', 'node']) {
      expect(await owner.post(`${BASE}/tools/install`, { name })).toMatchObject({
        status: 409,
        body: { error: 'tools.system' },
      });
    }
    expect(await owner.post(`${BASE}/tools/install`, { name: 'npm', version: '10.0.0' })).toMatchObject({
      status: 400,
      body: { error: 'bundleTools.version' },
    });
  });

  it('install the packages of the lock, run the one script with an empty environment, and take its output', async () => {
    const { status, log } = await build();
    expect(status).toMatchObject({ state: 'succeeded', outcome: { bundles: [{ name: 'shop', to: '2.0.0' }] } });
    expect(readFileSync(join(root, 'bundles/shop/main.js'), 'utf8')).toBe('hello');
    const seen = JSON.parse(readFileSync(join(root, 'bundles/shop/seen.json'), 'utf8')) as {
      env: Record<string, string>;
      ran: boolean;
    };
    expect(seen.ran, 'an install script of a package was run').toBe(false);
    expect(JSON.stringify(seen.env)).not.toContain('hunter2');
    expect(
      Object.keys(seen.env)
        .filter((name) => !/^npm_|^INIT_CWD$|^NODE/.test(name))
        .toSorted(),
    ).toEqual(expect.arrayContaining(['HOME', 'LC_ALL', 'PATH']));
    expect(JSON.stringify(log)).toContain('Install scripts that are not run: word 1.0.0');
    expect(existsSync(join(panel.folder, 'data/bundle-tools/npm/build'))).toBe(true);
    expect(readdirSync(join(panel.folder, 'data/bundle-tools/npm/build'))).toEqual([]);
  });

  it('show the packages of the commit', async () => {
    const { body } = await owner.post<{ packages: PackageView[]; checkedAt: null }>(`${BASE}/packages/info`, {
      project: 'shop',
    });
    const unknown = { latest: null, published: null, deprecated: null, advisories: null };
    expect(body.packages).toEqual([
      {
        name: 'greet',
        wanted: '^1.0.0',
        installed: '1.0.0',
        kind: 'direct',
        license: 'MIT',
        scripts: false,
        ...unknown,
      },
      { name: 'word', wanted: null, installed: '1.0.0', kind: 'transitive', license: 'MIT', scripts: true, ...unknown },
    ]);
    const one = await owner.post<{ packages: PackageView[] }>(`${BASE}/packages/info`, {
      project: 'shop',
      name: 'word',
    });
    expect(one.body.packages).toHaveLength(1);
    expect(await owner.post(`${BASE}/packages/info`, { project: 'nobody' })).toMatchObject({ status: 404 });
  });

  const propose = (changes: object[], title = 'newer words') =>
    owner.post<{ status: JobView; error: string }>(`${BASE}/packages/review`, { project: 'shop', changes, title });

  it('are proposed as a branch with a review, with what others bring', async () => {
    await registry.publish({ name: 'word', version: '1.1.0', manifest: { dependencies: { letter: '^1.0.0' } } });
    await registry.publish({ name: 'letter', version: '1.0.0', manifest: { scripts: { postinstall: 'exit 1' } } });
    const { outcome } = (
      await ended('packages/review', {
        project: 'shop',
        changes: [{ name: 'word', version: '1.1.0' }],
        title: 'newer words',
      })
    ).status;
    expect(outcome).toMatchObject({
      added: [{ name: 'letter', from: null, to: '1.0.0', scripts: true }],
      changed: [{ name: 'word', from: '1.0.0', to: '1.1.0', scripts: false }],
      removed: [],
      scripts: ['letter'],
    });
    const { branch, commit, review } = outcome as { branch: string; commit: string; review: number };
    expect(branch).toMatch(/^panel\/packages-/);
    const refs = await owner.post<{ refs: object[] }>(`${BASE}/projects/refs`, { name: 'shop' });
    expect(refs.body.refs).toContainEqual({ name: branch, kind: 'branch', commit });
    expect((await owner.get<{ projects: object[] }>(`${BASE}/projects`)).body.projects).toMatchObject([
      { reviews: 1, branch: 'main' },
    ]);
    expect(review).toBeGreaterThan(0);
  });

  it('are not proposed if they are too young, unknown, or no packages', async () => {
    await registry.publish({ name: 'fresh', version: '1.0.0', publishedAt: new Date().toISOString() });
    for (const name of ['fresh', 'nobody-has-this']) {
      const { status } = await ended('packages/review', {
        project: 'shop',
        changes: [{ name, version: '1.0.0' }],
        title: 'x',
      });
      expect(status).toMatchObject({ state: 'failed', error: 'packages.failed' });
    }
    for (const change of [
      { name: 'word', version: '^1.0.0' },
      { name: 'word', version: 'npm:evil@1.0.0' },
      { name: '../x', version: '1.0.0' },
      { name: '--registry', version: '1.0.0' },
    ]) {
      expect(await propose([change])).toMatchObject({ status: 400, body: { error: 'bundleTools.changes' } });
    }
    expect(await propose([])).toMatchObject({ status: 400, body: { error: 'bundleTools.changes' } });
    expect(await propose([{ name: 'word', version: null }], '')).toMatchObject({
      status: 400,
      body: { error: 'bundleTools.title' },
    });
  });

  it('give a .npmrc of the project no say', async () => {
    const proof = join(testFolder(), 'proof');
    await take({
      '.npmrc': `git=${proof}\nscript-shell=/bin/false\nregistry=http://127.0.0.1:1/\nignore-scripts=false\nnode-options=--require=/nowhere\n`,
    });
    expect((await build()).status).toMatchObject({ state: 'succeeded' });
    expect(existsSync(proof)).toBe(false);
  });

  it.each([
    [
      'a foreign host',
      () => ({
        'node_modules/word': { ...registry.locked('word', '1.0.0'), resolved: 'https://evil.example/word.tgz' },
      }),
    ],
    [
      'a short hash',
      () => ({
        'node_modules/word': { ...registry.locked('word', '1.0.0'), integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' },
      }),
    ],
    ['an alias', () => ({ 'node_modules/word': { ...registry.locked('word', '1.0.0'), name: 'evil' } })],
  ])('refuse a lock with %s, and nothing changes', async (_, entries) => {
    await take({ 'package-lock.json': lock(entries()) });
    expect((await build()).status).toMatchObject({ state: 'failed', error: 'packages.lock' });
    expect(await owner.post(`${BASE}/packages/info`, { project: 'shop' })).toMatchObject({
      status: 409,
      body: { error: 'packages.lock' },
    });
    expect(readFileSync(join(root, 'bundles/shop/main.js'), 'utf8')).toBe('hello');
  });

  it('refuse a package that is younger than the owner allows', async () => {
    const publishedAt = new Date(Date.now() - 86_400_000).toISOString();
    await registry.publish({ name: 'word', version: '1.0.1', publishedAt });
    await take({ 'package-lock.json': lock({ 'node_modules/word': registry.locked('word', '1.0.1') }) });
    const { status } = await build();
    expect(status).toMatchObject({
      state: 'failed',
      error: 'packages.lock',
      message: expect.stringContaining('word 1.0.1'),
    });
  });

  it('refuse a package whose content has another hash', async () => {
    const other = {
      ...registry.locked('word', '1.0.0'),
      integrity: `sha512-${Buffer.alloc(64, 1).toString('base64')}`,
    };
    await take({ 'package-lock.json': lock({ 'node_modules/word': other }) });
    await ended('projects/build', { name: 'shop', apply: 'now', install: true }).then(({ status }) => {
      expect(status).toMatchObject({ state: 'failed', error: 'packages.failed' });
    });
  });

  it('refuse an output with a link, without one, and a script that fails', async () => {
    await take({
      'build.js':
        "const fs = require('fs'); fs.mkdirSync('dist'); fs.writeFileSync('dist/bundle.json', '{}'); fs.symlinkSync('/etc/passwd', 'dist/passwd')",
    });
    expect((await build()).status).toMatchObject({
      state: 'failed',
      error: 'upload.archive',
      message: expect.stringContaining('passwd'),
    });
    await take({ 'build.js': '' });
    expect((await build()).status).toMatchObject({ state: 'failed', error: 'bundleTools.build' });
    await take({ 'build.js': 'console.log("on the way"); process.exit(3)' });
    const { status, log } = await build();
    expect(status).toMatchObject({ state: 'failed', error: 'packages.failed' });
    expect(JSON.stringify(log)).toContain('on the way');
  });

  it('end a script that is cancelled, with all that it has started', async () => {
    const mark = join(testFolder(), 'pid');
    await take({
      'build.js': `const { spawn } = require('child_process'); const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']); require('fs').writeFileSync(${JSON.stringify(mark)}, String(child.pid)); setInterval(() => {}, 1000)`,
    });
    const started = await owner.post<{ status: JobView }>(`${BASE}/projects/build`, {
      name: 'shop',
      apply: 'now',
      install: true,
    });
    await expect.poll(() => existsSync(mark) && readFileSync(mark, 'utf8') !== '', { timeout: 60_000 }).toBe(true);
    const { id } = started.body.status;
    await owner.post(`${BASE}/jobs/${id}/cancel`);
    await expect
      .poll(async () => (await owner.get<JobAnswer>(`${BASE}/jobs/${id}`)).body.status.state)
      .toBe('cancelled');
    const isAlive = () => existsSync(`/proc/${readFileSync(mark, 'utf8')}/exe`);
    await expect.poll(isAlive).toBe(false);
  });

  it('refuse packages of a registry that was taken away again', async () => {
    await take({});
    await owner.post(`${BASE}/settings`, { registry: '' });
    const answer = await owner.post(`${BASE}/packages/info`, { project: 'shop' });
    expect(answer).toMatchObject({ status: 409, body: { error: 'packages.lock' } });
  });
});
