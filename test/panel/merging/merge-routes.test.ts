import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JobAnswer } from '#panel/shapes/jobs.ts';
import type { Comparison, Review } from '#panel/shapes/merging.ts';
import type { Permission } from '#panel/shapes/permissions.ts';
import { Repository } from '#panel/sources/git/repository.ts';
import { testFolder } from '#support/test-folder.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';
import { commit, newRepository, setBranch } from './repository.ts';

const BASE = '/api/bundle-tools/projects';
const RIGHTS: Permission[] = [
  ...(['bundles.build', 'bundles.git-write', 'bundles.accounts.use'] as const),
  ...(['bundles.merge', 'bundles.review', 'bundles.settings'] as const),
];

let panel: TestPanel;
let ada: PanelClient;
let bob: PanelClient;
let repository: Repository;
let base: string;
let head: string;

beforeAll(async () => {
  panel = await startTestPanel({ settings: { backend: 'standalone', serverRoot: testFolder(), bundleTools: true } });
  ada = await panel.account('ada', RIGHTS);
  bob = await panel.account('bob', RIGHTS);
});

afterAll(async () => {
  await panel.stop();
});

let turn = 0;
let project = '';

beforeEach(async () => {
  turn += 1;
  project = `shop${turn}`;
  repository = await newRepository(join(panel.folder, 'data/bundle-tools/sources'), project);
  const root = await commit(repository, { 'a.lua': 'one\n', 'b.lua': 'one\n' }, null);
  base = await commit(repository, { 'a.lua': 'base\n', 'b.lua': 'one\n' }, root);
  head = await commit(repository, { 'a.lua': 'one\n', 'b.lua': 'head\n' }, root, 'carol');
  await setBranch(repository, 'main', base);
  await setBranch(repository, 'work', head);
  panel.services.projectStore.save({
    ...{ name: project, origin: null, account: null, branch: 'main', commit: base, root: '', build: null },
    ...{ workflow: { workflow: 'direct', branch: 'main', approvals: 1 }, fetchedAt: null },
  });
});

const pair = () => ({ project, base: 'main', head: 'work', baseCommit: base, headCommit: head });
const merge = (client: PanelClient, more: object = {}) =>
  client.post(`${BASE}/merge`, { ...pair(), message: 'Take over work', resolutions: [], ...more });
const review = (client: PanelClient, body: object) => client.post(`${BASE}/review`, { ...pair(), ...body });
const contents = (path: string) =>
  execFileSync('git', ['--git-dir', repository.folder, 'show', `main:${path}`]).toString();

async function ended(answer: { readonly status: number; readonly body: Record<string, unknown> }) {
  expect(answer.body).toMatchObject({ ok: true });
  const { id } = answer.body.status as JobAnswer['status'];
  const read = async () => (await ada.get(`/api/bundle-tools/jobs/${id}`)).body as unknown as JobAnswer;
  await expect.poll(async () => (await read()).status.endedAt).not.toBeNull();
  return (await read()).status;
}

describe('comparing', () => {
  it('shows what a branch brings, by its name or its hash', async () => {
    for (const name of ['work', head]) {
      const { body } = await ada.post(`${BASE}/compare`, { project, base: 'main', head: name });
      const compare = body.compare as Comparison;
      expect(compare).toMatchObject({ base, head, ahead: 1, behind: 1, more: false });
      expect(compare.files.map(({ path, conflict }) => [path, conflict])).toEqual([['b.lua', false]]);
    }
  });

  it.each([
    [{ project: '../shop' }, 404, 'bundleTools.unknown'],
    [{ base: '--upload-pack=x' }, 400, 'bundleTools.base'],
    [{ head: 'nothing' }, 400, 'bundleTools.head'],
    [{ head: '0'.repeat(40) }, 400, 'bundleTools.head'],
    [{ path: 'a.lua' }, 400, 'bundleTools.path'],
  ])('is refused: %j', async (change, status, error) => {
    const answer = await ada.post(`${BASE}/compare`, { project, base: 'main', head: 'work', ...change });
    expect(answer).toMatchObject({ status, body: { error } });
  });
});

describe('merging', () => {
  it('makes a commit of both, and moves the branch and the next build', async () => {
    const status = await ended(await merge(ada));
    const merged = (await repository.commitOf('refs/heads/main')) ?? '';
    expect(status).toMatchObject({ state: 'succeeded', outcome: { branch: 'main', commit: merged, pushed: false } });
    expect([contents('a.lua'), contents('b.lua')]).toEqual(['base\n', 'head\n']);
    const log = execFileSync('git', [
      '--git-dir',
      repository.folder,
      'log',
      '-1',
      '--format=%an|%P|%s',
      'main',
    ]).toString();
    expect(log.trim()).toBe(`ada|${base} ${head}|Take over work`);
    expect(panel.services.projects.find(project).commit).toBe(merged);
    const again = { baseCommit: merged };
    expect(await merge(ada, again)).toMatchObject({ status: 409, body: { error: 'bundleTools.merged' } });
  });

  it('of a branch that has moved since it was shown is refused', async () => {
    const other = await commit(repository, { 'a.lua': 'other\n' }, base);
    await setBranch(repository, 'main', other);
    expect(await merge(ada)).toMatchObject({ status: 409, body: { error: 'bundleTools.moved' } });
    expect(await repository.commitOf('refs/heads/main')).toBe(other);
  });

  it('twice at once happens once', async () => {
    const answers = await Promise.all([merge(ada), merge(bob)]);
    const accepted = answers.filter(({ status }) => status === 200);
    for (const answer of accepted) await ended(answer);
    const log = execFileSync('git', ['--git-dir', repository.folder, 'rev-list', '--merges', '--count', 'main']);
    expect(log.toString().trim()).toBe('1');
  });

  it('with conflicts names the files, and takes a side for each', async () => {
    const other = await commit(repository, { 'a.lua': 'head too\n', 'b.lua': 'head\n' }, head);
    await setBranch(repository, 'work', other);
    const moved = { headCommit: other };
    expect(await merge(ada, moved)).toMatchObject({
      status: 409,
      body: { error: 'bundleTools.conflict', paths: ['a.lua'] },
    });
    const wrong = { ...moved, resolutions: [{ path: 'b.lua', take: 'head' }] };
    expect(await merge(ada, wrong)).toMatchObject({ status: 400, body: { error: 'bundleTools.resolutions' } });
    const status = await ended(await merge(ada, { ...moved, resolutions: [{ path: 'a.lua', take: 'head' }] }));
    expect(status.state).toBe('succeeded');
    expect([contents('a.lua'), contents('b.lua')]).toEqual(['head too\n', 'head\n']);
  });
});

describe('reviewing', () => {
  beforeEach(async () => {
    const body = { project, workflow: 'review', branch: 'main', approvals: 1 };
    expect((await ada.post(`${BASE}/workflow`, body)).body).toMatchObject({
      ok: true,
      project: { workflow: body.branch && { workflow: 'review' } },
    });
  });

  const opened = async (client: PanelClient): Promise<Review> =>
    (await review(client, { action: 'open', title: 'Take over work' })).body.review as Review;

  it('asks for the approval of another account, which is of these commits alone', async () => {
    expect(await merge(ada)).toMatchObject({ status: 409, body: { error: 'bundleTools.approval' } });
    const { id } = await opened(ada);
    expect(await review(ada, { action: 'approve', id })).toMatchObject({
      status: 409,
      body: { error: 'bundleTools.approval' },
    });
    expect((await review(bob, { action: 'approve', id, comment: 'well' })).body.review).toMatchObject({
      approvedBy: ['bob'],
      state: 'open',
    });
    const other = await commit(repository, { 'b.lua': 'more\n' }, head);
    await setBranch(repository, 'work', other);
    expect(await merge(ada)).toMatchObject({ status: 409, body: { error: 'bundleTools.moved' } });
    expect(await merge(ada, { headCommit: other })).toMatchObject({ body: { error: 'bundleTools.approval' } });
    await setBranch(repository, 'work', head);
    expect(await ended(await merge(ada))).toMatchObject({ state: 'succeeded' });
    const { body } = await ada.get(`${BASE}/reviews?project=${project}`);
    expect(body.reviews).toMatchObject([{ id, state: 'merged', approvedBy: ['bob'] }]);
  });

  it('takes no approval of other commits than the ones of the review', async () => {
    const { id } = await opened(ada);
    for (const other of [{ headCommit: base }, { baseCommit: head }]) {
      expect(await review(bob, { ...other, action: 'approve', id })).toMatchObject({
        status: 409,
        body: { error: 'bundleTools.moved' },
      });
    }
  });

  it('counts until the step that moves the branch: an approval that is taken back in that second stops it', async () => {
    const { id } = await opened(ada);
    await review(bob, { action: 'approve', id });
    const { commitTree } = Repository.prototype;
    const spied = vi.spyOn(Repository.prototype, 'commitTree').mockImplementationOnce(async function (
      this: Repository,
      made,
    ) {
      const done = await commitTree.call(this, made);
      await review(bob, { action: 'reject', id });
      return done;
    });
    const job = await ended(await merge(ada));
    spied.mockRestore();
    expect(job).toMatchObject({ state: 'failed', error: 'bundleTools.approval' });
    expect(await repository.commitOf('refs/heads/main')).toBe(base);
  });

  it('takes no approval from an author of one of the commits', async () => {
    const own = await commit(repository, { 'b.lua': 'of bob\n' }, head, 'bob');
    await setBranch(repository, 'work', own);
    const document = { headCommit: own };
    const { id } = (await review(ada, { ...document, action: 'open', title: 'x' })).body.review as Review;
    expect(await review(bob, { ...document, action: 'approve', id })).toMatchObject({
      status: 409,
      body: { error: 'bundleTools.approval' },
    });
  });

  it('ends: a rejected or closed one approves nothing, and is not there twice', async () => {
    for (const action of ['reject', 'close']) {
      const { id } = await opened(ada);
      await review(bob, { action: 'approve', id });
      expect((await review(bob, { action, id })).body.review).toMatchObject({ approvedBy: ['bob'] });
      expect(await merge(ada)).toMatchObject({ status: 409, body: { error: 'bundleTools.approval' } });
      for (const again of ['approve', 'close']) {
        expect(await review(bob, { action: again, id })).toMatchObject({
          status: 404,
          body: { error: 'bundleTools.unknown' },
        });
      }
    }
  });

  it('of another project is not found by its number', async () => {
    const { id } = await opened(ada);
    const other = panel.services.projects.find('shop1');
    const answer = await bob.post(`${BASE}/review`, { ...pair(), project: other.name, action: 'approve', id });
    expect(answer).toMatchObject({ status: 404, body: { error: 'bundleTools.unknown' } });
  });

  it('is not needed for a branch beside the one that it guards', async () => {
    const side = await commit(repository, { 'a.lua': 'base\n', 'b.lua': 'one\n', 'c.lua': 'c\n' }, base);
    await setBranch(repository, 'side', side);
    expect(await ended(await merge(ada, { base: 'side', baseCommit: side }))).toMatchObject({ state: 'succeeded' });
  });

  it.each([
    [{ workflow: 'none' }, 'bundleTools.workflowKind'],
    [{ approvals: 2 }, 'bundleTools.approvals'],
    [{ branch: 'nothing' }, 'bundleTools.branch'],
    [{ branch: '--all' }, 'bundleTools.branch'],
  ])('cannot be set up with %j', async (change, error) => {
    const answer = await ada.post(`${BASE}/workflow`, { project, workflow: 'review', branch: 'main', ...change });
    expect(answer).toMatchObject({ status: 400, body: { error } });
  });
});
