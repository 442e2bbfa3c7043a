import fs, { readdirSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bundleOf, InstallRig } from '../support/install-rig.ts';

const { renameSync, mkdirSync } = fs;

/** The disk is full at one call for a path of the server, and has room again after it. */
function fullAt(root: string, method: 'renameSync' | 'mkdirSync', call: number): void {
  let seen = 0;
  const original = method === 'renameSync' ? renameSync : mkdirSync;
  Reflect.set(fs, method, (path: string, ...rest: unknown[]) => {
    if (String(path).startsWith(root)) seen += 1;
    if (seen === call && String(path).startsWith(root)) {
      seen += 1;
      throw Object.assign(new Error(`ENOSPC: no space left on device, ${method} '${path}'`), { code: 'ENOSPC' });
    }
    return Reflect.apply(original, fs, [path, ...rest]);
  });
  syncBuiltinESMExports();
}

function roomAgain(): void {
  Object.assign(fs, { renameSync, mkdirSync });
  syncBuiltinESMExports();
}

describe('a disk that is full at a step of an install', () => {
  let rig: InstallRig;
  let version = 0;

  beforeAll(async () => {
    rig = await InstallRig.start({ shop: bundleOf('0.0.0'), bank: bundleOf('0.0.0') });
  });
  afterEach(roomAgain);
  afterAll(() => rig.stop());

  const put = async (files: string) => {
    const bundles = ['shop', 'bank'].map((name) => ({ name, files: bundleOf(files) }));
    return rig.ended(rig.put({ bundles }));
  };
  const manifests = () => ['shop', 'bank'].map((name) => JSON.parse(rig.read(`${name}/bundle.json`) ?? '{}').version);
  const staged = () => readdirSync(join(rig.root, '.panel/staging'));

  /** The job has failed, both bundles are the old ones, and the same install succeeds as soon as there is room. */
  async function isRepeated(before: string): Promise<void> {
    version += 1;
    const failed = await put(`${version}.0.0`);
    expect([failed.state, failed.message]).toEqual(['failed', expect.stringMatching(/is full|ENOSPC/)]);
    expect(manifests()).toEqual([before, before]);
    expect((await rig.versions('shop')).some(({ state }) => state === 'pending')).toBe(false);
    roomAgain();
    version += 1;
    expect((await put(`${version}.0.0`)).outcome.bundles).toMatchObject([{ from: before }, { from: before }]);
    expect(manifests()).toEqual([`${version}.0.0`, `${version}.0.0`]);
    await expect.poll(staged).not.toContain(failed.id);
  }

  it.each([1, 2, 3, 4])('rename %i of four: the bundles are the old ones, and it can be repeated', async (call) => {
    const before = `${version}.0.0`;
    fullAt(rig.root, 'renameSync', call);
    await isRepeated(before);
  });

  it.each([1, 2])('new folder %i: nothing is renamed, and it can be repeated', async (call) => {
    const before = `${version}.0.0`;
    fullAt(rig.root, 'mkdirSync', call);
    await isRepeated(before);
  });
});
