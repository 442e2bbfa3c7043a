import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { AuditEntry } from '#panel/shapes/accounts.ts';
import type { JobView } from '#panel/shapes/jobs.ts';
import type { Upload } from '#panel/shapes/uploads.ts';
import { bundleOf, InstallRig } from '../support/install-rig.ts';
import { rawZip } from '../support/raw-zip.ts';

/** Called when the work of this name has begun. */
let onWork: (name: string) => void = () => {};

vi.mock('#panel/work/run-work.ts', async (original) => {
  const { runWork } = await original<typeof import('#panel/work/run-work.ts')>();
  const watched: typeof runWork = (name, input, options) => {
    const done = runWork(name, input, options);
    onWork(name);
    return done;
  };
  return { runWork: watched };
});

const PATH = '/api/bundle-tools/upload';
const BOUNDARY = 'x'.repeat(30);
let rig: InstallRig;

beforeAll(async () => {
  rig = await InstallRig.start({ shop: { ...bundleOf('1.0.0'), 'goods.txt': 'old' } });
  await rig.run();
  const first = await install(await upload());
  await vi.waitFor(async () => expect((await rig.job(first)).state).toBe('succeeded'), { timeout: 20_000 });
});
afterAll(() => rig.stop());
afterEach(() => {
  onWork = () => {};
  vi.restoreAllMocks();
});

let version = 1;

/** Uploads the next version of the bundle; resolves with the id of the upload. */
async function upload(): Promise<string> {
  version += 1;
  const files = Object.entries({ ...bundleOf(`${version}.0.0`), 'goods.txt': String(version) });
  const zip = rawZip(files.map(([path, data]) => ({ name: `shop/${path}`, data })));
  const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="shop.zip"\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), zip, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]);
  const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, 'x-csrf': rig.owner.csrf };
  const answer = await rig.owner.raw<{ upload: Upload }>({ method: 'POST', path: PATH, headers, body });
  return answer.body.upload.id;
}

async function install(id: string): Promise<string> {
  const body = { upload: id, bundles: [{ from: 'shop', name: 'shop' }], apply: 'now' };
  return (await rig.owner.post<{ status: JobView }>(`${PATH}/install`, body)).body.status.id;
}

const running = () => rig.panel.services.jobs.list(callerOf()).find(({ state }) => state === 'running');
const callerOf = () => {
  const { caller } = rig.services.sessionReader.read({ headers: { cookie: rig.owner.cookieHeader } });
  if (caller === null) throw new Error('the client has no session');
  return caller;
};
const cancel = () => rig.services.jobs.cancel(running()?.id ?? '', callerOf());
const below = (path: string) => (existsSync(join(rig.root, path)) ? readdirSync(join(rig.root, path)) : []);

const STEPS: readonly (readonly [string, () => void])[] = [
  ['its files are unpacked', () => (onWork = (name) => void (name === 'unpack-zip' && cancel()))],
  ['edited files are looked for', () => (onWork = (name) => void (name === 'compare-folder' && cancel()))],
  ['its files are hashed and flushed', () => (onWork = (name) => void (name === 'seal-folder' && cancel()))],
  ['the bundles are listed', () => before('list')],
  ['the server is asked whether it can switch', () => before('whyNot')],
];

function before(method: 'list' | 'whyNot'): void {
  const { desk } = rig.services.installs;
  const real = desk[method].bind(desk) as () => Promise<never>;
  vi.spyOn(desk, method).mockImplementation((...args: unknown[]) => {
    cancel();
    return (real as (...given: unknown[]) => Promise<never>)(...args);
  });
}

describe('an install that is cancelled while', () => {
  let id: string;
  beforeAll(async () => {
    id = await upload();
  });

  it.each(STEPS)('%s leaves nothing of it', async (_step, prepare) => {
    const [bundles, versions, goods] = [await rig.states(), await rig.versionList('shop'), rig.read('shop/goods.txt')];
    prepare();
    expect(await rig.ended(await install(id))).toMatchObject({
      ...{ state: 'cancelled', message: 'cancelled by owner; nothing was changed', outcome: null },
    });
    expect(below('.panel/staging')).toEqual([]);
    expect([await rig.states(), await rig.versionList('shop')]).toEqual([bundles, versions]);
    expect(rig.read('shop/goods.txt')).toBe(goods);
  });

  it('it waits for another job ends at once, stands in the audit log, and the upload can be installed', async () => {
    const release = await rig.services.jobs.switching.take();
    const job = await install(id);
    const path = `/api/bundle-tools/jobs/${job}/cancel`;
    expect(await rig.owner.post(path)).toMatchObject({ status: 200, body: { status: { state: 'cancelled' } } });
    expect(await rig.owner.post(path)).toMatchObject({ status: 409 });
    release();
    expect(await rig.ended(await install(id))).toMatchObject({ state: 'succeeded' });
    expect(rig.read('shop/goods.txt')).toBe(String(version));
    const { body } = await rig.owner.get<{ entries: AuditEntry[] }>('/api/audit');
    const lines = body.entries.filter(({ action }) => action === 'bundleTools.cancel');
    expect(lines).toMatchObject([
      { subject: job, result: 'jobs.committed' },
      { subject: job, result: 'ok' },
    ]);
  });
});
