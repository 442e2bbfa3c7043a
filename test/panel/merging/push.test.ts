import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEFAULT_SETTINGS } from '#panel/settings/panel-settings.ts';
import type { JobAnswer } from '#panel/shapes/jobs.ts';
import type { Comparison } from '#panel/shapes/merging.ts';
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

describeIf(noGitServer, 'a merge that is pushed', () => {
  let server: GitServer;
  let served: ServedRepository;
  let panel: TestPanel;
  let owner: PanelClient;

  const start = async (path: string, body: object): Promise<JobAnswer['status']> => {
    const answer = await owner.post(`${BASE}/${path}`, body);
    expect(answer.body).toMatchObject({ ok: true });
    const { id } = answer.body.status as JobAnswer['status'];
    const read = async () => (await owner.get(`${BASE}/jobs/${id}`)).body as unknown as JobAnswer;
    await expect.poll(async () => (await read()).status.endedAt, { timeout: 60_000 }).not.toBeNull();
    const { status, log } = await read();
    expect(JSON.stringify(log)).not.toContain(GIT_TOKEN);
    return status;
  };
  const repository = () => panel.services.projects.repository({ name: 'shop' });
  const localMain = () => repository().commitOf('refs/heads/main');
  const remoteMain = () => execFileSync('git', ['ls-remote', served.folder, 'refs/heads/main']).toString().slice(0, 40);
  const merge = async (head: string) => {
    const [baseCommit, headCommit] = [await localMain(), await repository().commitOf(`refs/remotes/origin/${head}`)];
    const body = { project: 'shop', base: 'main', head: `origin/${head}`, baseCommit, headCommit };
    return start('projects/merge', { ...body, message: `Take over ${head}` });
  };

  beforeAll(async () => {
    server = await startGitServer(testFolder());
    served = await server.make('shop');
    served.commit({ 'bundle.json': '{}', 'a.lua': 'one\n' });
    served.commit({ 'b.lua': 'b\n' }, 'work');
    served.commit({ 'c.lua': 'c\n' }, 'more');
    const tools = { ...DEFAULT_SETTINGS.tools, gitHosts: [server.host], privateHosts: [server.host] };
    panel = await startTestPanel({
      config: { panel: { caFile: server.caFile } },
      settings: { backend: 'standalone', serverRoot: testFolder(), bundleTools: true, tools },
    });
    owner = await panel.owner();
    const account = {
      name: 'main',
      kind: 'git',
      url: new URL(served.url).origin,
      username: GIT_USER,
      token: GIT_TOKEN,
    };
    expect((await owner.post(`${BASE}/accounts/save`, account)).body).toMatchObject({ ok: true });
  });

  afterAll(async () => {
    await panel?.stop();
    await server?.stop();
  });

  it('moves the branch here and there', async () => {
    expect(await start('projects/import', { name: 'shop', url: served.url, account: 'main' })).toMatchObject({
      state: 'succeeded',
    });
    const status = await merge('work');
    expect(status).toMatchObject({ state: 'succeeded', outcome: { branch: 'main', pushed: true } });
    expect(await localMain()).toBe((status.outcome as { commit: string }).commit);
    expect(remoteMain()).toBe(await localMain());
  });

  it('is taken back here and there', async () => {
    const before = (await localMain()) ?? '';
    const answer = await owner.post(`${BASE}/projects/compare`, {
      project: 'shop',
      base: 'main',
      head: 'revert:last',
    });
    const { base: baseCommit, head: headCommit } = answer.body.compare as Comparison;
    const pair = { project: 'shop', base: 'main', head: 'revert:last', baseCommit, headCommit };
    expect(await start('projects/merge', { ...pair, message: 'Back' })).toMatchObject({ outcome: { pushed: true } });
    expect(remoteMain()).toBe(await localMain());
    expect(remoteMain()).not.toBe(before);
    const names = execFileSync('git', ['--git-dir', served.folder, 'ls-tree', '--name-only', 'main']).toString();
    expect(names.trim().split('\n')).toEqual(['a.lua', 'bundle.json']);
  });

  it('takes the branch here back if somebody has pushed there meanwhile', async () => {
    const before = await localMain();
    execFileSync('git', ['--git-dir', served.folder, 'update-ref', 'refs/heads/main', 'refs/heads/more']);
    const there = remoteMain();
    expect(await merge('more')).toMatchObject({ state: 'failed', error: 'bundleTools.moved' });
    expect(await localMain()).toBe(before);
    expect(remoteMain()).toBe(there);
    expect(panel.services.projects.find('shop').commit).toBe(before);
  });
});
