import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { JobStore } from '#panel/jobs/job-store.ts';
import type { JobAnswer } from '#panel/shapes/jobs.ts';
import type { Comparison, Review } from '#panel/shapes/merging.ts';
import type { Permission } from '#panel/shapes/permissions.ts';
import type { Repository } from '#panel/sources/git/repository.ts';
import { openPanelStore } from '#panel/store/panel-store.ts';
import { testFolder } from '#support/test-folder.ts';
import { PASSWORD, type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';
import { commit, type Files, newRepository, setBranch } from './repository.ts';

const BASE = '/api/bundle-tools/projects';
const HEAD = 'revert:last';
const RIGHTS: Permission[] = [
  ...(['bundles.build', 'bundles.git-write', 'bundles.accounts.use'] as const),
  ...(['bundles.merge', 'bundles.review', 'bundles.settings'] as const),
];
const SETTINGS = { backend: 'standalone', serverRoot: testFolder(), bundleTools: true } as const;

let panel: TestPanel;
let ada: PanelClient;
let bob: PanelClient;
let repository: Repository;
let turn = 0;
let project = '';

beforeAll(async () => {
  panel = await startTestPanel({ settings: SETTINGS });
  ada = await panel.account('ada', RIGHTS);
  bob = await panel.account('bob', RIGHTS);
});

afterAll(async () => {
  await panel.stop();
});

/** A project whose `main` has `a.lua`, and whose `work` adds `b.lua` and changes a line. */
beforeEach(async () => {
  turn += 1;
  project = `shop${turn}`;
  repository = await newRepository(join(panel.folder, 'data/bundle-tools/sources'), project);
  const main = await commit(repository, { 'a.lua': 'one\n', 'price.lua': 'bread = 4\n' }, null);
  const work = await commit(repository, { 'a.lua': 'one\n', 'price.lua': 'bread = 5\n', 'b.lua': 'b\n' }, main);
  await setBranch(repository, 'main', main);
  await setBranch(repository, 'work', work);
  panel.services.projectStore.save({
    ...{ name: project, origin: null, account: null, branch: 'main', commit: main, root: '', build: null },
    ...{ workflow: { workflow: 'direct', branch: 'main', approvals: 1 }, fetchedAt: null },
  });
});

const git = (...args: string[]) => execFileSync('git', ['--git-dir', repository.folder, ...args]).toString();
const main = async () => (await repository.commitOf('refs/heads/main')) ?? '';
const files = () => {
  const names = git('ls-tree', '-r', '--name-only', 'main').trim().split('\n');
  return Object.fromEntries(names.map((name) => [name, git('show', `main:${name}`)]));
};
const compared = async (head: string): Promise<Comparison> =>
  (await ada.post(`${BASE}/compare`, { project, base: 'main', head })).body.compare as Comparison;

async function ended(answer: { readonly status: number; readonly body: Record<string, unknown> }) {
  expect(answer.body).toMatchObject({ ok: true });
  const { id } = answer.body.status as JobAnswer['status'];
  const read = async () => ((await ada.get(`/api/bundle-tools/jobs/${id}`)).body as unknown as JobAnswer).status;
  await expect.poll(async () => (await read()).endedAt).not.toBeNull();
  return read();
}

/** Merges exactly what a comparison shows. */
async function merge(head: string, { resolutions = [] as object[], message = 'x' } = {}) {
  const { base: baseCommit, head: headCommit } = await compared(head);
  return ada.post(`${BASE}/merge`, { project, base: 'main', head, baseCommit, headCommit, resolutions, message });
}

/** A commit on `main` by an account, after the merge. */
async function later(change: Files): Promise<void> {
  await setBranch(repository, 'main', await commit(repository, { ...files(), ...change }, await main()));
}

const BEFORE = { 'a.lua': 'one\n', 'price.lua': 'bread = 4\n' };
const AFTER = { 'a.lua': 'one\n', 'price.lua': 'bread = 5\n', 'b.lua': 'b\n' };

describe('what was merged last', () => {
  it('is shown before it is taken back, as a commit that says so', async () => {
    expect(await ended(await merge('work', { message: 'Take over work' }))).toMatchObject({ state: 'succeeded' });
    const merged = await main();
    const shown = await compared(HEAD);
    expect(shown).toMatchObject({ base: merged, mergeBase: merged, ahead: 1, behind: 0 });
    expect(shown.commits).toMatchObject([{ commit: shown.head, author: 'panel', subject: 'Revert "Take over work"' }]);
    expect(shown.files.map(({ path, status, conflict }) => [path, status, conflict])).toEqual([
      ['b.lua', 'removed', false],
      ['price.lua', 'changed', false],
    ]);
    expect(await main()).toBe(merged);
    expect((await compared(HEAD)).head).toBe(shown.head);
  });

  it('is taken back by a merge, and comes again when that is taken back', async () => {
    await ended(await merge('work'));
    expect(files()).toEqual(AFTER);
    const merged = await main();
    const status = await ended(await merge(HEAD, { message: 'Back' }));
    expect(status).toMatchObject({ state: 'succeeded', outcome: { branch: 'main', commit: await main() } });
    expect(files()).toEqual(BEFORE);
    expect(panel.services.projects.find(project).commit).toBe(await main());
    expect(git('log', '-1', '--format=%an|%P|%s', 'main').trim()).toMatch(
      new RegExp(`^ada\\|${merged} [0-9a-f]{40}\\|Back$`),
    );
    // The branch has it, though not its files: only taking back brings it again.
    expect(await merge('work')).toMatchObject({ status: 409, body: { error: 'bundleTools.merged' } });
    await ended(await merge(HEAD));
    expect(files()).toEqual(AFTER);
  });

  it('is taken back alone: what came after it stays, and what meets it takes a side', async () => {
    await ended(await merge('work'));
    await later({ 'c.lua': 'c\n' });
    await ended(await merge(HEAD));
    expect(files()).toEqual({ ...BEFORE, 'c.lua': 'c\n' });
    await ended(await merge(HEAD));
    await later({ 'price.lua': 'bread = 6\n' });
    expect(await merge(HEAD)).toMatchObject({
      status: 409,
      body: { error: 'bundleTools.conflict', paths: ['price.lua'] },
    });
    await ended(await merge(HEAD, { resolutions: [{ path: 'price.lua', take: 'base' }] }));
    expect(files()).toEqual({ 'a.lua': 'one\n', 'price.lua': 'bread = 6\n', 'c.lua': 'c\n' });
  });

  it('is not there before the first merge', async () => {
    const answer = await ada.post(`${BASE}/compare`, { project, base: 'main', head: HEAD });
    expect(answer).toMatchObject({ status: 409, body: { error: 'bundleTools.neverMerged' } });
  });

  it('is another one after a further merge: what was shown is refused', async () => {
    await ended(await merge('work'));
    const { base: baseCommit, head: headCommit } = await compared(HEAD);
    const side = await commit(repository, { ...AFTER, 'd.lua': 'd\n' }, await main());
    await setBranch(repository, 'side', side);
    await ended(await merge('side'));
    const stale = { project, base: 'main', head: HEAD, headCommit, resolutions: [], message: 'x' };
    for (const seen of [baseCommit, await main()]) {
      const answer = await ada.post(`${BASE}/merge`, { ...stale, baseCommit: seen });
      expect(answer).toMatchObject({ status: 409, body: { error: 'bundleTools.moved' } });
    }
    await ended(await merge(HEAD));
    expect(files()).toEqual(AFTER);
  });

  it('needs the approval of another account if merges do', async () => {
    await ended(await merge('work'));
    await ada.post(`${BASE}/workflow`, { project, workflow: 'review', branch: 'main', approvals: 1 });
    expect(await merge(HEAD)).toMatchObject({ status: 409, body: { error: 'bundleTools.approval' } });
    const { base: baseCommit, head: headCommit } = await compared(HEAD);
    const pair = { project, base: 'main', head: HEAD, baseCommit, headCommit };
    const opened = await ada.post(`${BASE}/review`, { ...pair, action: 'open', title: 'Back' });
    const { id } = opened.body.review as Review;
    const approve = { ...pair, action: 'approve', id };
    expect(await ada.post(`${BASE}/review`, approve)).toMatchObject({ body: { error: 'bundleTools.approval' } });
    expect((await bob.post(`${BASE}/review`, approve)).body).toMatchObject({ ok: true });
    expect(await ended(await merge(HEAD))).toMatchObject({ state: 'succeeded' });
    expect(files()).toEqual(BEFORE);
  });
});

describe('a taking back that kill -9 has cut off', () => {
  it.each([
    ['before', 'b'],
    ['after', 'c'],
  ])('%s the branch moved, is finished by the next start', async (when, letter) => {
    await ended(await merge('work'));
    const { base: baseCommit, head: headCommit } = await compared(HEAD);
    const tree = await repository.treeOf(headCommit, '');
    const author = { name: 'ada', email: 'ada@panel.invalid' };
    const commitHash = await repository.commitTree({
      ...{ tree: tree ?? '', parents: [baseCommit, headCommit], message: 'Back\n', author, atEpochMs: Date.now() },
    });
    const folder = panel.folder;
    await panel.stop();
    if (when === 'after') await setBranch(repository, 'main', commitHash);
    const store = openPanelStore(join(folder, 'data/panel.sqlite'));
    const jobs = new JobStore(store);
    const id = letter.repeat(24);
    jobs.save({
      ...{ id, kind: 'projects.merge', subjects: [`project:${project}`], accountId: 1, username: 'ada' },
      input: { project, base: 'main', head: HEAD, baseCommit, headCommit, resolutions: [], message: 'Back' },
      ...{ state: 'running', isCommitted: true, progress: 0, message: '', error: null, outcome: null },
      ...{ queuedAt: Date.now(), startedAt: Date.now(), endedAt: null },
    });
    jobs.addStep(id, { name: 'move', data: { commit: commitHash, remote: null } });
    store.close();
    panel = await startTestPanel({ folder, settings: SETTINGS });
    ada = panel.client();
    await ada.login('ada', PASSWORD);
    const status = await ended({ status: 200, body: { ok: true, status: { id } } });
    expect(status).toMatchObject({ state: 'succeeded', outcome: { commit: commitHash } });
    expect(await main()).toBe(commitHash);
    expect(files()).toEqual(BEFORE);
    expect(panel.services.projects.find(project).commit).toBe(commitHash);
  });
});
