import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Zippable } from 'fflate';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PanelUpdatesAnswer } from '#panel/shapes/updates.ts';
import type { PanelClient } from '../support/panel.ts';
import { startTestPanel, type TestPanel } from '../support/panel.ts';
import { newReleaseKey } from '../support/releases.ts';
import { MAIN, type SmallReleaseChanges, smallRelease } from '../support/small-release.ts';

const key = newReleaseKey();
const foreign = newReleaseKey();

let panel: TestPanel;
let owner: PanelClient;

beforeAll(async () => {
  panel = await startTestPanel({ config: { panel: { updates: { keys: [key.publicKey] } } } });
  owner = await panel.owner();
});
afterAll(() => panel.stop());

const HASH_OF_MAIN = '1'.repeat(64);

function put(zip: Zippable, path: string, entry: Zippable[string]): void {
  zip[path] = entry;
}

/** Puts a file alone into the inbox, looks, and returns what the panel says. */
async function checked(bytes: Uint8Array | null): Promise<PanelUpdatesAnswer> {
  const inbox = join(panel.folder, 'data/updates/inbox');
  mkdirSync(inbox, { recursive: true });
  if (bytes !== null) writeFileSync(join(inbox, 'release.zip'), bytes);
  const { body } = await owner.post<{ status: { id: string } }>('/api/updates/check');
  return ended(body.status.id);
}

async function ended(id: string): Promise<PanelUpdatesAnswer> {
  const answer = async () => (await owner.get<PanelUpdatesAnswer>('/api/updates')).body;
  await expect.poll(async () => (await answer()).status).toMatchObject({ id, endedAt: expect.any(String) });
  return answer();
}

describe('a release in the inbox', () => {
  it('that a trusted key has signed is offered', async () => {
    const { updates } = await checked(smallRelease(key));
    expect(updates).toMatchObject({
      newest: { version: '9.1.0', channel: 'stable', isSigned: true, raises: [], fault: null },
      ...{ refused: [], staged: null, keeper: false, refusal: 'update.keeper' },
    });
  });

  it.each<[string, string, SmallReleaseChanges, RegExp]>([
    ['without a signature', 'update.unsigned', { signedBy: null }, /no signature/],
    ['of a foreign key', 'update.unsigned', { signedBy: foreign }, /no key that this sidecar trusts/],
    ['of another product', 'update.invalid', { manifest: { product: 'connector' } }, /product/],
    ['with an unknown field', 'update.invalid', { manifest: { extra: 1 } }, /RELEASE\.json/],
    ['with a version that leads out', 'update.invalid', { manifest: { version: '../9.1.0' } }, /version/],
    [
      'with a path that leads out',
      'update.invalid',
      { manifest: { files: { 'main.js': HASH_OF_MAIN, '../x': HASH_OF_MAIN } } },
      /files/,
    ],
    ['with a reserved name', 'update.invalid', { files: { 'main.js': MAIN, 'aux.js': '' } }, /files/],
    [
      'with two files of one name but for case',
      'update.invalid',
      { files: { 'main.js': MAIN, 'Main.js': MAIN } },
      /twice/,
    ],
    ['with a file where a folder is', 'update.invalid', { files: { 'main.js': MAIN, a: '', 'a/b': '' } }, /one name/],
    ['without main.js', 'update.invalid', { files: { 'other.js': MAIN } }, /main\.js/],
    [
      'with a file more',
      'update.invalid',
      { entries: (zip) => put(zip, 'sidecar/more.js', Buffer.from('x')) },
      /more\.js is not part of it/,
    ],
    [
      'with a file less',
      'update.invalid',
      { entries: (zip) => void delete zip['sidecar/main.js'] },
      /main\.js is missing/,
    ],
    [
      'with an entry beside its folder',
      'update.invalid',
      { entries: (zip) => put(zip, 'evil.js', Buffer.from('x')) },
      /evil\.js is not in the folder/,
    ],
    [
      'with a link',
      'update.invalid',
      {
        entries: (zip) => put(zip, 'sidecar/main.js', [Buffer.from('/etc/passwd'), { os: 3, attrs: 0o120777 << 16 }]),
      },
      /is a link/,
    ],
  ])('%s is refused with %s', async (_what, error, changes, detail) => {
    const { updates } = await checked(smallRelease(key, changes));
    expect(updates.newest).toBeNull();
    expect(updates.refused).toMatchObject([{ file: 'release.zip', error, detail: expect.stringMatching(detail) }]);
  });

  it('that is no ZIP, or a link, is refused', async () => {
    expect((await checked(Buffer.from('no zip'))).updates.refused).toMatchObject([{ error: 'update.invalid' }]);
    const inbox = join(panel.folder, 'data/updates/inbox');
    symlinkSync('/etc/passwd', join(inbox, 'link.zip'));
    expect((await checked(smallRelease(key))).updates.refused).toMatchObject([{ file: 'link.zip' }]);
  });

  it('of the beta channel is offered only to owners who chose it', async () => {
    const beta = smallRelease(key, { manifest: { version: '9.2.0-beta.1', channel: 'beta' } });
    expect((await checked(beta)).updates.newest).toBeNull();
    await owner.post('/api/settings', { updateChannel: 'beta' });
    expect((await checked(null)).updates.newest?.version).toBe('9.2.0-beta.1');
    await owner.post('/api/settings', { updateChannel: 'stable' });
  });
});

describe('download', () => {
  async function downloaded(bytes: Uint8Array, body: object = {}): Promise<PanelUpdatesAnswer> {
    await checked(bytes);
    const { body: answer } = await owner.post<{ status: { id: string } }>('/api/updates/download', body);
    return ended(answer.status.id);
  }

  it.each<[string, SmallReleaseChanges, object, string]>([
    ['an older release', { manifest: { version: '0.0.1' } }, { target: '0.0.1' }, 'update.target'],
    ['a target that is not there', {}, { target: '../../etc' }, 'update.target'],
    ['a release for another Node.js', { manifest: { node: '>=99' } }, {}, 'update.target'],
    [
      'a release that knows older formats',
      { manifest: { formats: { panel: 0, database: 2, journal: 1 } } },
      {},
      'update.target',
    ],
    ['a release that does not report itself', {}, {}, 'update.invalid'],
    [
      'a file that is not the released one',
      { entries: (zip) => put(zip, 'sidecar/main.js', Buffer.from('other')) },
      {},
      'update.invalid',
    ],
  ])('refuses %s, and leaves nothing', async (_what, changes, body, error) => {
    const { status, updates } = await downloaded(smallRelease(key, changes), body);
    expect(status).toMatchObject({ state: 'failed', error });
    expect(updates.staged).toBeNull();
    const left = readdirSync(join(panel.folder, 'data'), { recursive: true }).filter((path) =>
      /releases[/\\]./.test(String(path)),
    );
    expect(left).toEqual([]);
  });

  it('is refused without a keeper when it is applied', async () => {
    expect(await owner.post('/api/updates/apply')).toMatchObject({ status: 409, body: { error: 'update.keeper' } });
    expect(await owner.post('/api/updates/rollback')).toMatchObject({ status: 409, body: { error: 'update.keeper' } });
  });
});

describe('a release that is uploaded', () => {
  const BOUNDARY = 'boundary-of-the-test';
  beforeEach(() => rmSync(join(panel.folder, 'data/updates/inbox'), { recursive: true, force: true }));
  const inbox = () => readdirSync(join(panel.folder, 'data/updates/inbox')).sort();
  const send = (bytes: Uint8Array, client = owner) =>
    client.raw<{ error?: string }>({
      ...{ method: 'POST', path: '/api/updates/upload' },
      headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, 'x-csrf': client.csrf },
      body: Buffer.concat([
        Buffer.from(`--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="../../x.zip"\r\n\r\n`),
        bytes,
        Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
      ]),
    });

  it('is offered, under the name of its version', async () => {
    expect(await send(smallRelease(key))).toMatchObject({
      ...{ status: 200, body: { release: { version: '9.1.0', isSigned: true, fault: null } } },
    });
    expect(inbox()).toEqual(['sidecar-9.1.0.zip']);
    expect((await owner.get('/api/updates')).body.updates).toMatchObject({ newest: { version: '9.1.0' }, refused: [] });
  });

  it.each([
    ['unsigned', 409, 'update.unsigned', () => smallRelease(key, { signedBy: null })],
    ['of a foreign key', 409, 'update.unsigned', () => smallRelease(key, { signedBy: foreign })],
    ['no ZIP', 409, 'update.invalid', () => Buffer.from('no archive at all')],
    ['not newer', 404, 'update.target', () => smallRelease(key, { manifest: { version: '0.0.1' } })],
  ] as const)('and %s leaves nothing behind', async (_name, status, error, bytes) => {
    expect(await send(bytes())).toMatchObject({ status, body: { error } });
    expect(inbox()).toEqual([]);
  });

  it('needs the rights of apply', async () => {
    const writer = await panel.account('writer', ['settings.write']);
    expect(await send(smallRelease(key), writer)).toMatchObject({ status: 403, body: { error: 'permission.missing' } });
  });
});
