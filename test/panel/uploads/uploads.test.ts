import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InstallOutcome } from '#panel/shapes/installs.ts';
import type { Upload } from '#panel/shapes/uploads.ts';
import { provideSevenZip } from '#scripts/servers/debian-program.ts';
import { itIf } from '#support/it-if.ts';
import { testFolder } from '#support/test-folder.ts';
import { bundleOf, FAILS, type Files, InstallRig, WORKS, writeFiles } from '../support/install-rig.ts';
import type { PanelClient } from '../support/panel.ts';
import { localRecord, type RawEntry, rawZip } from '../support/raw-zip.ts';

const PATH = '/api/bundle-tools/upload';
const BOUNDARY = 'x'.repeat(30);
const UPLOADS = ['bundles.read', 'bundles.upload'] as const;
/** Above the size that is unpacked in one piece. */
const LARGE = randomBytes(1_500_000).toString('hex');
let rig: InstallRig;

/** null if the program can be run, else the reason why not. */
function whyNot(program: string): string | null {
  const { error } = spawnSync(program, ['--version'], { stdio: 'ignore' });
  return error === undefined ? null : `${program}: ${error.message}`;
}

function form(zip: Buffer, { field = 'file', fileName = 'shop.zip', more = '' } = {}): Buffer {
  const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${field}"; filename="${fileName}"\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), zip, Buffer.from(`\r\n${more}--${BOUNDARY}--\r\n`)]);
}

const multipart = (client: PanelClient) => ({
  'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
  'x-csrf': client.csrf,
});

function send(body: Buffer, client = rig.owner, headers: Record<string, string> = {}) {
  return client.raw<{ upload: Upload; error?: string; entry?: string; detail?: string }>({
    ...{ method: 'POST', path: PATH, body, headers: { ...multipart(client), ...headers } },
  });
}

/** The field of Info-ZIP that some programs take for the name. */
function unicodePath(name: string): Buffer {
  const content = Buffer.concat([Buffer.from([1, 0, 0, 0, 0]), Buffer.from(name)]);
  const head = Buffer.alloc(4);
  head.writeUInt16LE(0x7075, 0);
  head.writeUInt16LE(content.length, 2);
  return Buffer.concat([head, content]);
}

const entriesOf = (files: Files, folder = ''): RawEntry[] =>
  Object.entries(files).map(([path, data]) => ({ name: `${folder}${path}`, data }));
const zipOf = (files: Files, folder = '') => rawZip(entriesOf(files, folder));
const refusal = async (entries: RawEntry[]) => {
  const { status, body } = await send(form(rawZip([...entriesOf(bundleOf('1.0.0'), 'shop/'), ...entries])));
  return { status, error: body.error, entry: body.entry };
};
const uploadFolder = () => join(rig.panel.folder, 'data/bundle-tools/uploads');
const kept = () => (existsSync(uploadFolder()) ? readdirSync(uploadFolder()) : []);

/** A kept upload of the bundle `shop`, without its file. */
function insertUpload(id: string, at: number, bytes: number): void {
  const { store, accounts } = rig.services;
  store
    .prepare('INSERT INTO uploads (id, account_id, at, bytes, inspected) VALUES (?, ?, ?, ?, ?)')
    .run(id, accounts.idOf('owner'), at, bytes, JSON.stringify({ bundles: [{ from: 'shop', files: 1, bytes: 1 }] }));
}

async function install(body: object, client = rig.owner) {
  const { status, body: answer } = await client.post<{ status: { id: string }; error?: string }>(
    `${PATH}/install`,
    body,
  );
  if (status !== 200) return { status, error: answer.error };
  return await rig.ended(answer.status.id);
}

beforeAll(async () => {
  rig = await InstallRig.start({ bank: bundleOf('1.0.0') });
});
afterAll(() => rig.stop());

describe('an archive that is fine', () => {
  it('is shown as a dry run, and nothing of the server is touched', async () => {
    writeFileSync(join(rig.root, 'bundles/bank/extra.txt'), 'mine');
    const files = bundleOf('1.1.0', WORKS, { dependencies: ['bank', 'nothing'] });
    const entries = [
      ...entriesOf(files, 'pack-main/shop/'),
      ...entriesOf(bundleOf('1.2.0'), 'pack-main/bank/'),
      { name: '__MACOSX/._x', data: 'x' },
      { name: 'pack-main/readme.txt', data: 'hi' },
    ];
    const { status, body } = await send(form(rawZip(entries)));
    expect(status).toBe(200);
    const { bundles, ignored, expiresAt } = body.upload;
    expect(bundles).toMatchObject([
      {
        from: 'pack-main/bank',
        name: 'bank',
        version: '1.2.0',
        installed: '1.0.0',
        changed: 1,
        removed: 1,
        added: 0,
        warnings: ['unmanaged'],
      },
      {
        from: 'pack-main/shop',
        name: 'shop',
        version: '1.1.0',
        files: 2,
        installed: null,
        added: 2,
        missing: ['nothing'],
        warnings: [],
      },
    ]);
    expect([ignored, Date.parse(expiresAt) > Date.now() + 23 * 3_600_000]).toEqual([2, true]);
    expect(rig.read('shop/bundle.json')).toBeNull();
    expect(statSync(uploadFolder()).mode & 0o777).toBe(0o700);
  });

  it('installs what was chosen, under the chosen name, and is used up', async () => {
    const { body } = await send(
      form(zipOf({ ...bundleOf('1.0.0'), 'data/a.txt': 'a' }), { fileName: 'shop-1.2.3.zip' }),
    );
    expect(body.upload.bundles).toMatchObject([{ from: '', name: 'shop' }]);
    const before = kept().length;
    const bundles = [{ from: '', name: 'market' }];
    const done = await install({ upload: body.upload.id, bundles, apply: 'now' });
    expect(done).toMatchObject({
      state: 'succeeded',
      outcome: { bundles: [{ name: 'market', to: '1.0.0', state: 'unproven' }] },
    });
    expect(rig.read('market/data/a.txt')).toBe('a');
    expect(statSync(join(rig.root, 'bundles/market/server.js')).mode & 0o777).toBe(0o644);
    expect(kept().length).toBe(before - 1);
    expect(await install({ upload: body.upload.id, bundles, apply: 'now' })).toMatchObject({ status: 404 });
  });

  it('can be sent again with overwrite after a refusal for edited files, which it names', async () => {
    writeFileSync(join(rig.root, 'bundles/market/server.js'), 'mine');
    const { body } = await send(form(zipOf(bundleOf('1.1.0'), 'market/')));
    expect(body.upload.bundles).toMatchObject([{ edited: ['server.js'] }]);
    const given = { upload: body.upload.id, bundles: [{ from: 'market', name: 'market' }], apply: 'now' };
    expect(await install(given)).toMatchObject({ state: 'failed', error: 'bundles.changed' });
    const done = (await install({ ...given, overwrite: true })) as { outcome: InstallOutcome };
    expect(done.outcome.bundles).toMatchObject([{ from: '1.0.0', to: '1.1.0' }]);
  });

  for (const program of ['zip', 'python3'])
    itIf(whyNot(program), `made by ${program} is read`, async () => {
      const folder = testFolder();
      writeFiles(join(folder, 'kiosk'), { ...bundleOf('2.0.0'), 'größe/ä.txt': 'ä', 'big.txt': LARGE });
      const file = join(folder, 'out.zip');
      const script = 'import shutil,sys; shutil.make_archive(sys.argv[1][:-4], "zip", sys.argv[2])';
      mkdirSync(join(folder, 'away'));
      if (program === 'zip') execFileSync('zip', ['-qr', file, 'kiosk'], { cwd: folder });
      else execFileSync('python3', ['-c', script, join(folder, 'away/out.zip'), join(folder, 'kiosk')]);
      const zip = readFileSync(program === 'zip' ? file : join(folder, 'away/out.zip'));
      const { status, body } = await send(form(zip, { fileName: 'kiosk.zip' }));
      expect([status, body.detail]).toEqual([200, undefined]);
      expect(body.upload.bundles).toMatchObject([{ name: 'kiosk', version: '2.0.0', files: 4 }]);
    });
});

describe('an archive of 7-Zip', () => {
  it.each([
    ['stored', ['-mx=0']],
    ['deflated', ['-mx=9', '-mm=Deflate']],
  ])('%s, is read', async (_how, options) => {
    const [program = '', ...rest] = await provideSevenZip(() => {});
    const folder = testFolder();
    writeFiles(join(folder, 'kiosk'), { ...bundleOf('2.0.0'), 'größe/ä.txt': 'ä', 'big.txt': LARGE });
    execFileSync(program, [...rest, 'a', '-tzip', '-mcu=on', ...options, 'out.zip', 'kiosk'], { cwd: folder });
    const { status, body } = await send(form(readFileSync(join(folder, 'out.zip')), { fileName: 'kiosk.zip' }));
    expect([status, body.detail]).toEqual([200, undefined]);
    expect(body.upload.bundles).toMatchObject([{ name: 'kiosk', version: '2.0.0', files: 4 }]);
  });
});

describe('an entry is refused, and nothing is kept of its archive', () => {
  const GIANT = Buffer.alloc(30 * 2 ** 20);
  const cases: readonly (readonly [string, RawEntry[], string])[] = [
    ['..', [{ name: 'shop/../../x', data: 'x' }], 'shop/../../x'],
    ['an absolute path', [{ name: '/etc/x', data: 'x' }], '/etc/x'],
    ['a drive', [{ name: 'C:/x', data: 'x' }], 'C:/x'],
    ['a backslash', [{ name: 'shop\\x', data: 'x' }], 'shop\\x'],
    ['NUL', [{ name: 'shop/x\0.js', data: 'x' }], 'shop/x\\u{0}.js'],
    ['a control character', [{ name: 'shop/x\u001b', data: 'x' }], 'shop/x\\u{1b}'],
    ['a direction character', [{ name: 'shop/\u202egpj', data: 'x' }], 'shop/\\u{202e}gpj'],
    ['a name that Windows reserves', [{ name: 'shop/NUL.txt', data: 'x' }], 'shop/NUL.txt'],
    ['an ending dot', [{ name: 'shop/x.', data: 'x' }], 'shop/x.'],
    ['an ending space', [{ name: 'shop/x ', data: 'x' }], 'shop/x '],
    ['a name that is too long', [{ name: `shop/${'x'.repeat(240)}`, data: 'x' }], `shop/${'x'.repeat(240)}`],
    ['too many levels', [{ name: `shop/${'a/'.repeat(21)}x`, data: 'x' }], `shop/${'a/'.repeat(21)}x`],
    ['the same twice', [{ name: 'shop/server.js', data: 'x' }], 'shop/server.js'],
    ['equal but for case', [{ name: 'shop/SERVER.js', data: 'x' }], 'shop/SERVER.js'],
    [
      'equal but for its Unicode form',
      [
        { name: 'shop/é', data: '' },
        { name: 'shop/e\u0301', data: '' },
      ],
      'shop/e\u0301',
    ],
    ['a file and a folder', [{ name: 'shop/server.js/x', data: 'x' }], 'shop/server.js/x'],
    ['a link', [{ name: 'shop/l', data: '/etc/passwd', mode: 0o120777 }], 'shop/l'],
    ['a device', [{ name: 'shop/d', mode: 0o020666 }], 'shop/d'],
    ['encrypted', [{ name: 'shop/e', data: 'x', flags: 0x801 }], 'shop/e'],
    [
      'overlapping',
      [{ name: 'shop/server.js.map', data: WORKS, sameAs: 1, localName: 'shop/server.js' }],
      'shop/server.js.map',
    ],
    [
      'overlapping: a head in the content of another',
      [
        { name: 'shop/outer', method: 0, data: localRecord({ name: 'shop/inner', data: 'x' }) },
        { name: 'shop/inner', data: 'x', inside: 2 },
      ],
      'shop/inner',
    ],
    ['a second name in Unicode', [{ name: 'shop/u', data: 'x', extra: unicodePath('shop/v') }], 'shop/u'],
    ['another method', [{ name: 'shop/m', data: 'x', method: 12 }], 'shop/m'],
    ['another local name', [{ name: 'shop/a', localName: 'shop/b', data: 'x' }], 'shop/a'],
    ['a wrong checksum', [{ name: 'shop/c', data: 'x', crc: 1 }], 'shop/c'],
    ['larger than announced', [{ name: 'shop/s', data: 'xxxx', size: 2 }], 'shop/s'],
    ['smaller than announced', [{ name: 'shop/s', data: 'xxxx', size: 9 }], 'shop/s'],
    ['not UTF-8', [{ name: Buffer.from([0x73, 0xff]), data: 'x' }], 's\u00ff'],
    ['more than 200 to 1', [{ name: 'shop/bomb', data: GIANT }], 'shop/bomb'],
  ];

  it.each(cases)('%s', async (_what, entries, entry) => {
    const before = kept();
    expect(await refusal(entries)).toEqual({ status: 400, error: 'upload.archive', entry });
    expect(kept()).toEqual(before);
  });

  it('20,001 entries', async () => {
    const many = Array.from({ length: 20_000 }, (_, index) => ({ name: `shop/${index}`, method: 0 }));
    expect(await refusal(many)).toMatchObject({ error: 'upload.archive', entry: 'shop/19998' });
  });

  it('no archive, half an archive, an empty one', async () => {
    const whole = zipOf(bundleOf('1.0.0'), 'shop/');
    for (const bytes of [Buffer.from('PK'), whole.subarray(0, whole.length - 30), Buffer.alloc(0)]) {
      expect((await send(form(bytes))).body).toMatchObject({ error: 'upload.archive' });
    }
  });
});

describe('a manifest is refused', () => {
  it.each([
    ['none', { 'readme.txt': 'x' }],
    ['no JSON', { 'bundle.json': '{' }],
    ['no version', { 'bundle.json': '{"server":"server.js"}', 'server.js': '' }],
    ['an unknown property', { ...bundleOf('1', WORKS, { evil: 1 }) }],
    ['a script that is not there', { 'bundle.json': '{"version":"1","server":"other.js"}' }],
    ['a script outside', { 'bundle.json': '{"version":"1","server":"../server.js"}' }],
    ['a dependency that is no name', { ...bundleOf('1', WORKS, { dependencies: ['../x'] }) }],
  ])('%s', async (_what, files) => {
    expect(await send(form(zipOf(files as Files, 'shop/')))).toMatchObject({
      status: 400,
      body: { error: 'upload.manifest' },
    });
  });
});

describe('a body is refused', () => {
  const zip = () => zipOf(bundleOf('1.0.0'), 'shop/');

  it('of another type, another field, or of two parts', async () => {
    expect((await send(form(zip()), rig.owner, { 'content-type': 'application/json' })).status).toBe(415);
    expect((await send(form(zip()), rig.owner, { 'content-type': 'multipart/form-data; x=y' })).body.error).toBe(
      'upload.form',
    );
    expect((await send(form(zip(), { field: 'other' }))).body.error).toBe('upload.form');
    const second = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="b.zip"\r\n\r\nx\r\n`;
    expect((await send(form(zip(), { more: second }))).body.error).toBe('upload.form');
    const field = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="name"\r\n\r\nx\r\n`;
    expect((await send(form(zip(), { more: field }))).body.error).toBe('upload.form');
    expect((await send(Buffer.from(`--${BOUNDARY}--\r\n`))).body.error).toBe('upload.form');
    expect(kept().every((name) => /^[0-9a-f]{24}$/.test(name))).toBe(true);
  });

  it('without the right, without the token, and with the switch off', async () => {
    const reader = await rig.panel.account('reader', ['bundles.read']);
    expect((await send(form(zip()), reader)).status).toBe(403);
    expect((await send(form(zip()), rig.owner, { 'x-csrf': 'no' })).status).toBe(400);
    await rig.owner.post('/api/settings', { bundleTools: false });
    expect((await send(form(zip()))).body).toMatchObject({ error: 'bundleTools.disabled' });
    await rig.owner.post('/api/settings', { bundleTools: true });
  });

  it('that is announced too large, before a byte is read', async () => {
    const answer = await new Promise<number>((resolve, reject) => {
      const { hostname, port } = new URL(rig.panel.address);
      const headers = {
        ...multipart(rig.owner),
        cookie: rig.owner.cookieHeader,
        'content-length': String(300 * 2 ** 20),
      };
      const sent = request({ hostname, port, method: 'POST', path: PATH, headers }, (response) => {
        resolve(response.statusCode ?? 0);
        sent.destroy();
      });
      sent.on('error', reject);
      sent.flushHeaders();
    });
    expect(answer).toBe(413);
  });

  it('of more than 256 MiB that announced nothing', async () => {
    const before = kept();
    const headers = { 'transfer-encoding': 'chunked' };
    const [head = '', tail = ''] = form(Buffer.from('|')).toString('latin1').split('|');
    const body = Readable.from(
      (function* () {
        yield Buffer.from(head, 'latin1');
        for (let count = 0; count < 257; count += 1) yield Buffer.alloc(2 ** 20);
        yield Buffer.from(tail, 'latin1');
      })(),
    );
    const answer = rig.owner.raw<{ error?: string }>({
      ...{ method: 'POST', path: PATH, body, headers: { ...multipart(rig.owner), ...headers } },
    });
    expect((await answer).body.error).toBe('body.large');
    await expect.poll(kept).toEqual(before);
  });

  /** So many bodies of 1,000 bytes that arrive until the returned function ends them. */
  const opened = async (client: PanelClient, count: number) => {
    const sent = Array.from({ length: count }, () => new PassThrough());
    const headers = { ...multipart(client), 'content-length': '1000' };
    const answers = sent.map((body) => client.raw<object>({ method: 'POST', path: PATH, body, headers }));
    const before = kept().length;
    for (const body of sent) body.write(form(zip()).subarray(0, 100));
    await expect.poll(() => kept().length).toBe(before + count);
    return async () => {
      for (const body of sent) body.end(Buffer.alloc(900));
      for (const { status } of await Promise.all(answers)) expect(status).toBe(400);
    };
  };

  it('as the third of an account at once, and as the last place of all if it holds one', async () => {
    const [helper, third] = [await rig.panel.account('helper', UPLOADS), await rig.panel.account('third', UPLOADS)];
    const busy = (detail: string) => ({ status: 409, body: { error: 'upload.busy', detail } });
    const ends = [await opened(rig.owner, 2)];
    expect(await send(form(zip()))).toMatchObject(busy('yours: 2'));
    ends.push(await opened(helper, 1));
    expect(await send(form(zip()), helper)).toMatchObject(busy('of helper, owner'));
    expect(await send(form(zip()), third)).toMatchObject({ status: 200 });
    for (const end of ends) await end();
    expect(await send(form(zip()), helper)).toMatchObject({ status: 200 });
  });

  it('beyond 2 GiB in all, with those that still arrive; the last 256 MiB are for an account that holds none', async () => {
    const held = rig.services.store.prepare('SELECT sum(bytes) AS bytes FROM uploads').get() as { bytes: number };
    const body = form(zip());
    const most = 2 ** 31 - 2 ** 28;
    const [first, second] = [await rig.panel.account('first', UPLOADS), await rig.panel.account('second', UPLOADS)];
    const full = { status: 409, body: { error: 'upload.full' } };
    const forget = () => rig.services.store.prepare('DELETE FROM uploads WHERE id = ?').run('f'.repeat(24));
    insertUpload('f'.repeat(24), Date.now(), most - held.bytes - 999 - body.length);
    const end = await opened(rig.owner, 1);
    expect(await send(body)).toMatchObject(full);
    await end();
    expect(await send(body)).toMatchObject({ status: 200 });
    forget();
    insertUpload('f'.repeat(24), Date.now(), most - 100);
    expect(await send(body)).toMatchObject(full);
    expect(await send(body, first)).toMatchObject({ status: 200 });
    expect(await send(body, first)).toMatchObject(full);
    forget();
    insertUpload('f'.repeat(24), Date.now(), 2 ** 31 - 100);
    expect(await send(body, second)).toMatchObject(full);
    forget();
  });

  it('that ends too early, and leaves nothing', async () => {
    const before = kept();
    await new Promise<void>((resolve) => {
      const { hostname, port } = new URL(rig.panel.address);
      const headers = { ...multipart(rig.owner), cookie: rig.owner.cookieHeader, 'content-length': '100000' };
      const sent = request({ hostname, port, method: 'POST', path: PATH, headers });
      sent.on('error', () => {});
      sent.on('close', () => resolve());
      sent.write(form(zip()).subarray(0, 200), () => sent.destroy());
    });
    await expect.poll(kept).toEqual(before);
  });

  it('is kept while the panel removes those that its last run left', async () => {
    const [sent, body, before] = [new PassThrough(), form(zipOf(bundleOf('1.0.0'), 'late/')), kept().length];
    const headers = { ...multipart(rig.owner), 'content-length': String(body.length) };
    const answer = rig.owner.raw<{ upload: Upload }>({ method: 'POST', path: PATH, body: sent, headers });
    sent.write(body.subarray(0, 200));
    await expect.poll(() => kept().length).toBe(before + 1);
    rig.panel.services.uploads.open();
    sent.end(body.subarray(200));
    const { status, text, body: received } = await answer;
    expect(status, text).toBe(200);
    expect(readdirSync(join(uploadFolder(), received.upload.id))).not.toEqual([]);
  });

  it('whose account loses the right while it arrives', async () => {
    const late = await rig.panel.account('late', ['bundles.upload']);
    const { accounts } = rig.services;
    const body = form(zip());
    const before = kept();
    const error = await new Promise<string>((resolve, reject) => {
      const { hostname, port } = new URL(rig.panel.address);
      const headers = { ...multipart(late), cookie: late.cookieHeader, 'content-length': String(body.length) };
      const sent = request({ hostname, port, method: 'POST', path: PATH, headers }, (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve(JSON.parse(text).error));
      });
      sent.on('error', reject);
      sent.write(body.subarray(0, 100));
      expect
        .poll(() => kept().length)
        .toBe(before.length + 1)
        .then(() => accounts.save(accounts.idOf('owner'), { username: 'late', permissions: [] }))
        .then(() => sent.end(body.subarray(100)), reject);
    });
    expect(error).toBe('permission.missing');
    expect(kept()).toEqual(before);
  });
});

describe('uploads belong to their account', () => {
  it('another account cannot install one, nor one that does not exist', async () => {
    const other = await rig.panel.account('other', ['bundles.upload']);
    const { body } = await send(form(zipOf(bundleOf('1.0.0'), 'shop/')));
    const bundles = [{ from: 'shop', name: 'shop' }];
    for (const upload of [body.upload.id, 'x', '../x']) {
      expect(await install({ upload, bundles, apply: 'now' }, other)).toMatchObject({
        status: 404,
        error: 'bundleTools.unknown',
      });
    }
    expect(
      await install({ upload: body.upload.id, bundles: [{ from: '..', name: 'shop' }], apply: 'now' }),
    ).toMatchObject({ status: 404 });
    const twice = [...bundles, { from: 'shop', name: 'SHOP' }];
    expect(await install({ upload: body.upload.id, bundles: twice, apply: 'now' })).toMatchObject({
      error: 'bundles.name',
    });
  });

  it('the eleventh drops the oldest of its account', async () => {
    const many = await rig.panel.account('many', ['bundles.upload']);
    const ids: string[] = [];
    for (let count = 0; count < 11; count += 1)
      ids.push((await send(form(zipOf(bundleOf('1.0.0'), 'shop/')), many)).body.upload.id);
    expect(ids.map((id) => kept().includes(id))).toEqual([false, ...Array(10).fill(true)]);
  });

  it('one that is a day old is gone', async () => {
    insertUpload('e'.repeat(24), Date.now() - 24 * 3_600_000, 1);
    const given = { upload: 'e'.repeat(24), bundles: [{ from: 'shop', name: 'shop' }], apply: 'now' };
    expect(await install(given)).toMatchObject({ status: 404, error: 'bundleTools.unknown' });
    insertUpload('e'.repeat(24), Date.now() - 23 * 3_600_000, 1);
    expect(await install(given)).toMatchObject({ state: 'failed' });
    rig.services.store.prepare('DELETE FROM uploads WHERE id = ?').run('e'.repeat(24));
  });

  it('a name is looked up by any spelling', async () => {
    const exists = async (name: string) => (await rig.owner.post(`${PATH}/exists`, { name })).body;
    expect(await exists('BANK')).toMatchObject({ exists: true, bundle: { name: 'bank', version: '1.0.0' } });
    expect(await exists('nothing')).toMatchObject({ exists: false, bundle: null });
    expect(await exists('../bank')).toMatchObject({ error: 'bundles.name' });
  });
});

describe('a field is refused by its name, and nothing is installed', () => {
  const chosen = { from: 'shop', name: 'fields' };
  let upload: string;

  beforeAll(async () => {
    upload = (await send(form(zipOf(bundleOf('1.0.0'), 'shop/')))).body.upload.id;
  });
  const cases: readonly (readonly [string, object, string, string])[] = [
    ['an upload that is no text', { upload: 7 }, 'bundleTools.upload', 'upload'],
    ['an upload left out', { upload: undefined }, 'bundleTools.upload', 'upload'],
    ['no bundles', { bundles: [] }, 'bundleTools.bundles', 'bundles'],
    ['bundles that are no list', { bundles: chosen }, 'bundleTools.bundles', 'bundles'],
    ['501 bundles', { bundles: Array(501).fill(chosen) }, 'bundleTools.bundles', 'bundles'],
    ['a bundle that is no object', { bundles: ['shop'] }, 'bundleTools.bundles', 'bundles.0'],
    ['a bundle without from', { bundles: [{ name: 'fields' }] }, 'bundleTools.from', 'bundles.0.from'],
    ['the second bundle without name', { bundles: [chosen, { from: 'x' }] }, 'bundles.name', 'bundles.1.name'],
    [
      'a category that is a number',
      { bundles: [{ ...chosen, category: 1 }] },
      'bundleTools.category',
      'bundles.0.category',
    ],
    ['kept files that are no list', { bundles: [{ ...chosen, keep: 'a.lua' }] }, 'bundleTools.keep', 'bundles.0.keep'],
    [
      'a kept file that is no text',
      { bundles: [{ ...chosen, keep: ['a', {}] }] },
      'bundleTools.keep',
      'bundles.0.keep.1',
    ],
    [
      '1,001 kept files',
      { bundles: [{ ...chosen, keep: Array(1001).fill('a') }] },
      'bundleTools.keep',
      'bundles.0.keep',
    ],
    [
      'a kept path without end',
      { bundles: [{ ...chosen, keep: ['a'.repeat(1001)] }] },
      'bundleTools.keep',
      'bundles.0.keep.0',
    ],
    ...['../x', '/etc/x', 'a/../../x', './x', 'a//x', 'a/', '', '..', 'a\0b', 'a\\b'].map(
      (path) =>
        [
          `a kept path that leads nowhere in the bundle: ${JSON.stringify(path)}`,
          { bundles: [chosen, { ...chosen, name: 'other', keep: ['a.lua', path] }] },
          ...['bundleTools.keep', 'bundles.1.keep.1'],
        ] as [string, object, string, string],
    ),
    ['a category', { bundles: [{ ...chosen, category: 'jobs' }] }, 'bundleTools.category', 'bundles.0.category'],
    [
      'a folder for two bundles',
      { bundles: [chosen, { ...chosen, name: 'other' }] },
      'bundleTools.from',
      'bundles.1.from',
    ],
    ['apply left out', { apply: undefined }, 'bundleTools.apply', 'apply'],
    ['another apply', { apply: 'tomorrow' }, 'bundleTools.apply', 'apply'],
    ['overwrite as text', { overwrite: 'true' }, 'bundleTools.overwrite', 'overwrite'],
    ['a field too many', { force: true }, 'bundleTools.field', 'force'],
    ['a field too many of a bundle', { bundles: [{ ...chosen, mode: 1 }] }, 'bundleTools.field', 'bundles.0.mode'],
  ];

  it.each(cases)('%s', async (_what, change, error, field) => {
    const body = { upload, bundles: [chosen], apply: 'now', ...change };
    const answer = await rig.owner.post(`${PATH}/install`, body);
    expect([answer.status, answer.body.error, answer.body.field]).toEqual([400, error, field]);
    expect(answer.body.detail).toEqual(expect.stringMatching(/./));
  });

  it('of the question for a name, of a body that is no object, and of another area', async () => {
    const named = { status: 400, body: { error: 'bundles.name', field: 'name' } };
    for (const body of [{}, { name: 1 }]) expect(await rig.owner.post(`${PATH}/exists`, body)).toMatchObject(named);
    const list = await rig.owner.post(`${PATH}/install`, []);
    expect([list.status, list.body.error]).toEqual([400, 'body.malformed']);
    // `bundleTools.workflow` is no field's key: it refuses a way of working.
    const workflow = await rig.owner.post('/api/bundle-tools/projects/workflow', { project: 'x', workflow: 1 });
    expect(workflow).toMatchObject({ status: 400, body: { error: 'bundleTools.field', field: 'workflow' } });
    const account = await rig.owner.post('/api/users/delete', { username: 1 });
    expect(account).toMatchObject({ status: 400, body: { error: 'body.malformed', field: 'username' } });
  });
});

describe('on a running server', () => {
  it('a bundle is installed, taken back when it fails, and the older one runs', async () => {
    await rig.run();
    const put = async (files: Files) => {
      const { body } = await send(form(zipOf(files, 'bank/')));
      return await install({
        upload: body.upload.id,
        bundles: [{ from: 'bank', name: 'bank' }],
        apply: 'now',
        overwrite: true,
      });
    };
    expect(await put(bundleOf('2.0.0'))).toMatchObject({
      state: 'succeeded',
      outcome: { bundles: [{ state: 'kept' }] },
    });
    expect(await put(bundleOf('3.0.0', FAILS))).toMatchObject({
      state: 'failed',
      outcome: { bundles: [{ state: 'rolledBack' }] },
    });
    await expect.poll(() => rig.states()).toMatchObject({ bank: 'started 2.0.0' });
  });
});
