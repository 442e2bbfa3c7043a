import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { JobAnswer, JobView } from '#panel/shapes/jobs.ts';
import { testFolder } from '#support/test-folder.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

const BASE = '/api/bundle-tools';
let panel: TestPanel;
let owner: PanelClient;

afterEach(() => panel.stop());

async function start(folder: string, git?: string): Promise<void> {
  panel = await startTestPanel({ folder, config: { panel: git === undefined ? {} : { git } } });
  await panel.panel.begin();
  owner = await panel.owner();
  await owner.post('/api/settings', { bundleTools: true });
}

/** A git that only says its version. */
function gitOf(version: string): string {
  const file = join(testFolder(), 'git');
  writeFileSync(file, `#!/bin/sh\necho git version ${version}\n`);
  chmodSync(file, 0o755);
  return file;
}

describe('source projects at the start', () => {
  it('remove repositories that a crash has left without a project', async () => {
    const folder = testFolder();
    const stray = join(folder, 'data/bundle-tools/sources/shop.git');
    const left = ['npm/build/0a/source', 'npm/review/0b', 'tools/making-11.19.1'];
    const tools = join(folder, 'data/bundle-tools');
    mkdirSync(join(stray, 'objects'), { recursive: true });
    for (const path of left) mkdirSync(join(tools, path), { recursive: true });
    await start(folder);
    expect([stray, ...left.map((path) => join(tools, path))].filter((path) => existsSync(path))).toEqual([]);
    expect((await owner.get(`${BASE}/projects`)).body).toMatchObject({ projects: [], removed: [] });
  });

  it.each([
    ['too old', gitOf('2.37.7'), '2.37.7', 'older than 2.38'],
    ['missing', '/nowhere/git', null, 'install git'],
  ])('say what to do if git is %s', async (_, git, version, advice) => {
    await start(testFolder(), git);
    const { tools } = (await owner.get<{ tools: object[] }>(`${BASE}/tools/latest`)).body;
    expect(tools).toContainEqual(expect.objectContaining({ name: 'git', version, minimum: '2.38' }));
    const started = await owner.post<{ status: JobView }>(`${BASE}/projects/import`, {
      name: 'shop',
      url: 'https://github.com/x/y',
    });
    const read = async () => (await owner.get<JobAnswer>(`${BASE}/jobs/${started.body.status.id}`)).body.status;
    await expect.poll(async () => (await read()).state).toBe('failed');
    expect(await read()).toMatchObject({ error: 'bundleTools.tool', message: expect.stringContaining(advice) });
  });
});
