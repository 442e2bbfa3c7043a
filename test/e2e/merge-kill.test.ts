import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { findProgram } from '#panel/programs/find-program.ts';
import type { JobView } from '#panel/shapes/jobs.ts';
import type { Comparison } from '#panel/shapes/merging.ts';
import type { Repository } from '#panel/sources/git/repository.ts';
import { ProjectStore } from '#panel/sources/project-store.ts';
import { testFolder } from '#support/test-folder.ts';
import { commit, newRepository, setBranch } from '../panel/merging/repository.ts';
import type { PanelClient } from '../panel/support/panel.ts';
import { type KilledPanel, prepareKilledPanel, startKilledPanel } from './killed-panel.ts';

const BASE = '/api/bundle-tools';
const PAIR = { project: 'shop', base: 'main', head: 'revert:last' };

let sidecar: KilledPanel | null = null;

afterEach(() => sidecar?.stop());

interface Prepared {
  readonly folder: string;
  readonly repository: Repository;
  readonly before: string;
  /** Names the command of git at which the sidecar is killed. */
  readonly killFile: string;
}

/** A git that kills the sidecar, its parent, before or after one of its commands. */
function killingGit(folder: string, killFile: string): string {
  const program = join(folder, 'killing-git');
  const git = findProgram('git');
  const lines = [
    '#!/bin/sh',
    `at=$(cat ${killFile} 2>/dev/null)`,
    'for word; do',
    '  case "$at" in',
    `  "before $word") kill -9 $PPID; exit 1 ;;`,
    `  "after $word") ${git} "$@"; kill -9 $PPID; exit 1 ;;`,
    '  esac',
    'done',
    `exec ${git} "$@"`,
  ];
  writeFileSync(program, `${lines.join('\n')}\n`);
  chmodSync(program, 0o755);
  return program;
}

/** A project whose branch has a merge at its end. */
async function prepare(): Promise<Prepared> {
  const folder = testFolder();
  const root = join(folder, 'game');
  mkdirSync(root);
  const repository = await newRepository(join(folder, 'data/bundle-tools/sources'));
  const first = await commit(repository, { 'a.lua': 'one\n' }, null);
  const work = await commit(repository, { 'a.lua': 'two\n' }, first);
  const before = await repository.commitTree({
    tree: (await repository.treeOf(work, '')) ?? '',
    parents: [first, work],
    message: 'Take over work\n',
    author: { name: 'ada', email: 'ada@panel.invalid' },
    atEpochMs: Date.now(),
  });
  await setBranch(repository, 'main', before);
  const killFile = join(folder, 'kill-git');
  prepareKilledPanel(folder, root, {
    panel: { git: killingGit(folder, killFile) },
    more: (store) =>
      new ProjectStore(store).save({
        ...{ name: 'shop', origin: null, account: null, branch: 'main', commit: before, root: '', build: null },
        ...{ workflow: { workflow: 'direct', branch: 'main', approvals: 1 }, fetchedAt: null },
      }),
  });
  return { folder, repository, before, killFile };
}

async function takeBack(client: PanelClient, beforeMerge: () => void): Promise<void> {
  const { body } = await client.post<{ compare: Comparison }>(`${BASE}/projects/compare`, PAIR);
  const commits = { baseCommit: body.compare.base, headCommit: body.compare.head };
  beforeMerge();
  await client
    .post(`${BASE}/projects/merge`, { ...PAIR, ...commits, message: 'Back', resolutions: [] })
    .catch(() => {});
}

const jobsOf = async (client: PanelClient) => (await client.get<{ jobs: JobView[] }>(BASE)).body.jobs;

it.each([
  ['before merge-tree', false],
  ['before update-ref', true],
  ['after update-ref', true],
])('killed %s, the last merge is taken back whole or not at all', async (moment, isBack) => {
  const { folder, repository, before, killFile } = await prepare();
  sidecar = await startKilledPanel(folder);
  const { child, client } = sidecar;
  await takeBack(client, () => writeFileSync(killFile, moment));
  await expect.poll(() => child.signalCode, { interval: 20 }).toBe('SIGKILL');
  rmSync(killFile);
  sidecar = await startKilledPanel(folder);
  const next = sidecar.client;
  await expect.poll(async () => (await jobsOf(next)).every(({ endedAt }) => endedAt !== null)).toBe(true);
  const now = (await repository.commitOf('refs/heads/main')) ?? '';
  expect(now !== before).toBe(isBack);
  expect((await repository.file(now, 'a.lua', 100))?.toString()).toBe(isBack ? 'one\n' : 'two\n');
  // Killed while the request was judged, there is no job.
  expect((await jobsOf(next)).map(({ state }) => state)).toEqual(isBack ? ['succeeded'] : []);
  const { body } = await next.get<{ projects: { commit: string }[] }>(`${BASE}/projects`);
  expect(body.projects[0]?.commit).toBe(now);
});
