import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { BundleVersion } from '#panel/shapes/installs.ts';
import type { JobView } from '#panel/shapes/jobs.ts';
import type { Upload } from '#panel/shapes/uploads.ts';
import type { Preload } from '#support/preloads.ts';
import { testFolder } from '#support/test-folder.ts';
import { bundleOf, writeFiles } from '../panel/support/install-rig.ts';
import type { PanelClient } from '../panel/support/panel.ts';
import { rawZip } from '../panel/support/raw-zip.ts';
import { type KilledPanel, prepareKilledPanel, startKilledPanel } from './killed-panel.ts';

const BOUNDARY = 'y'.repeat(30);
const WAIT = { timeout: 30_000, interval: 20 };
/** Two starts, and a job that waits for its gate. */
const SLOW_MS = 180_000;

let folder: string;
let root: string;
let sidecar: KilledPanel | null = null;

function prepare(): void {
  folder = testFolder();
  root = join(folder, 'game');
  mkdirSync(root);
  writeFiles(join(root, 'bundles/shop'), { ...bundleOf('1.0.0'), 'goods.txt': '1.0.0' });
  writeFiles(join(root, 'bundles/bank'), { ...bundleOf('1.0.0'), 'goods.txt': '1.0.0' });
  prepareKilledPanel(folder, root);
}

/** Resolves with a signed-in client. */
async function start(killer: Preload): Promise<PanelClient> {
  sidecar = await startKilledPanel(folder, killer);
  return sidecar.client;
}

/** Uploads and installs version 2.0.0 of both bundles. Null if the sidecar was killed meanwhile. */
async function install(client: PanelClient): Promise<string | null> {
  const files = Object.entries({ ...bundleOf('2.0.0'), 'goods.txt': '2.0.0' });
  const zip = rawZip(
    ['shop', 'bank'].flatMap((name) => files.map(([path, data]) => ({ name: `${name}/${path}`, data }))),
  );
  const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="a.zip"\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), zip, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]);
  const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, 'x-csrf': client.csrf };
  const send = () =>
    client.raw<{ upload: Upload }>({ method: 'POST', path: '/api/bundle-tools/upload', headers, body });
  // The panel serves a moment before it takes uploads.
  const sent = await vi.waitFor(async () => {
    const answer = await send();
    expect(answer.body.upload).toBeDefined();
    return answer;
  }, WAIT);
  writeFileSync(join(folder, 'kill'), String(moment));
  const bundles = ['bank', 'shop'].map((name) => ({ from: name, name }));
  const answer = await client
    .post<{ status: JobView }>('/api/bundle-tools/upload/install', {
      upload: sent.body.upload.id,
      bundles,
      apply: 'now',
    })
    .catch(() => null);
  return answer?.body.status.id ?? null;
}

const goods = (name: string) => readFileSync(join(root, 'bundles', name, 'goods.txt'), 'utf8');
const manifest = (name: string) => JSON.parse(readFileSync(join(root, 'bundles', name, 'bundle.json'), 'utf8')).version;

/** Everything that must hold after the next start, wherever the sidecar was killed. */
async function judge(client: PanelClient): Promise<string> {
  const { body } = await client.get<{ jobs: JobView[] }>('/api/bundle-tools');
  await expect
    .poll(async () =>
      (await client.get<{ jobs: JobView[] }>('/api/bundle-tools')).body.jobs.every(({ endedAt }) => endedAt !== null),
    )
    .toBe(true);
  const versions = [manifest('shop'), manifest('bank')];
  expect(versions).toEqual([goods('shop'), goods('bank')]);
  // Bundles of one job are one.
  expect(versions[0]).toBe(versions[1]);
  for (const name of ['shop', 'bank']) {
    const { body: list } = await client.get<{ versions: BundleVersion[] }>(`/api/bundles/versions?name=${name}`);
    const current = list.versions.find(({ isCurrent }) => isCurrent);
    if (list.versions.length > 0) expect(current?.version).toBe(versions[0]);
    expect(list.versions.some(({ state }) => state === 'pending')).toBe(false);
  }
  const staging = join(root, '.panel/staging');
  await expect.poll(() => (existsSync(staging) ? readdirSync(staging) : [])).toEqual([]);
  if (versions[0] === '1.0.0') for (const job of body.jobs) expect(job.state).not.toBe('succeeded');
  return versions[0];
}

let moment = 0;

beforeEach(prepare);
afterEach(() => sidecar?.stop());

/** Kills at the moment; resolves with the version after the next start, or null if there is no such moment. */
async function killedAt(killer: Preload, at: number): Promise<string | null> {
  moment = at;
  const first = await start(killer);
  const { child } = sidecar as KilledPanel;
  const id = await install(first);
  const ended = async () => {
    if (child.signalCode !== null || child.exitCode !== null) return true;
    if (id === null) return false;
    const answer = await first.get<{ status: JobView }>(`/api/bundle-tools/jobs/${id}`).catch(() => null);
    return answer?.body.status.endedAt !== null && answer !== null;
  };
  await expect.poll(ended, { interval: 20 }).toBe(true);
  if (child.signalCode === null) return null;
  const next = { killFile: join(folder, 'kill') };
  writeFileSync(next.killFile, '0');
  return await judge(await start(killer));
}

it.each([1, 2, 4, 6])(
  'killed at moment %i of the renames, the bundles are whole, and both new after the next start',
  { timeout: SLOW_MS },
  async (at) => {
    expect(await killedAt('kill-at-rename', at)).toBe('2.0.0');
  },
);

// Before the work, around the commit that begins the switch, and in the transaction that ends it.
it.each([4, 20, 28, 50])(
  'killed at moment %i of the statements, the bundles are whole, both old or both new',
  { timeout: SLOW_MS },
  async (at) => {
    expect(['1.0.0', '2.0.0']).toContain(await killedAt('kill-at-statement', at));
  },
);
