import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { Header } from 'tar';
import { beforeEach, describe, expect, it } from 'vitest';
import { listBackups } from '#sidecar/backup/backup-folder.ts';
import { newManifest } from '#sidecar/backup/manifest.ts';
import { archiveOf, unpackArchive } from '#sidecar/backup/remote/archive.ts';
import { newIdentity } from '#sidecar/backup/remote/identity.ts';
import { opened, sealed } from '#sidecar/backup/remote/sealed.ts';
import { namingFullDisk } from '#sidecar/moving/free-space.ts';
import { testFolder } from '#support/test-folder.ts';

type Bytes = AsyncIterable<Uint8Array>;

const NAME = 'backup-2026-01-01T04-00-00Z';
let folder: string;
beforeEach(() => {
  folder = testFolder();
});

/** A local backup whose database is `bytes`. */
function makeBackup(bytes: Uint8Array) {
  const path = join(folder, NAME);
  mkdirSync(path);
  const contents = { 'database.sqlite': bytes, 'waiting.jsonl': Buffer.from('') } as const;
  const files = (['database.sqlite', 'waiting.jsonl'] as const).map((name) => {
    writeFileSync(join(path, name), contents[name]);
    return { name, bytes: contents[name].length, sha256: createHash('sha256').update(contents[name]).digest('hex') };
  });
  const facts = { time: '2026-01-01T04:00:00.000Z', source: 's', journal: null, namespaces: [], files };
  writeFileSync(join(path, 'manifest.json'), JSON.stringify(newManifest(facts)));
  const [backup] = listBackups(folder);
  if (backup === undefined) throw new Error('no backup');
  return backup;
}

async function collect(content: Bytes): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts);
}

async function* cut(bytes: Buffer, lengths: readonly number[]): Bytes {
  let at = 0;
  for (let i = 0; at < bytes.length; i += 1) {
    const length = lengths[i % lengths.length] ?? 1;
    yield bytes.subarray(at, at + length);
    at += length;
  }
}

function tarEntry(path: string, content: Buffer, type: 'File' | 'SymbolicLink' = 'File'): Buffer {
  const head = Buffer.alloc(512);
  new Header({ path, size: content.length, mode: 0o600, type, mtime: new Date(0), linkpath: '/etc/passwd' }).encode(
    head,
    0,
  );
  return Buffer.concat([head, content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
}

it('comes out as it went in, however the stream is cut', async () => {
  const { identity, recipient } = await newIdentity();
  const backup = makeBackup(randomBytes(200_000));
  const sent = await collect(await sealed(archiveOf(backup, 'secret text').content, [recipient]));
  expect(sent.includes('secret text')).toBe(false);
  const lengths = fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1, maxLength: 5 });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(lengths, async (drawn) => {
      run += 1;
      const to = join(folder, `out-${run}`);
      await unpackArchive(opened(cut(sent, [...drawn, 65_536]), [identity]), to);
      for (const file of ['database.sqlite', 'waiting.jsonl', 'manifest.json']) {
        expect(readFileSync(join(to, file)).equals(readFileSync(join(backup.path, file)))).toBe(true);
      }
      expect(readFileSync(join(to, 'secrets.json'), 'utf8')).toBe('secret text');
    }),
    { numRuns: 15 },
  );
});

it('cut off or changed at any byte it is refused, and leaves nothing', async () => {
  const { identity, recipient } = await newIdentity();
  const backup = makeBackup(Buffer.from('a small database'));
  for (const [recipients, identities] of [
    [[], null],
    [[recipient], [identity]],
  ] as const) {
    const sent = await collect(await sealed(archiveOf(backup, null).content, recipients));
    await fc.assert(
      fc.asyncProperty(fc.nat(sent.length - 1), fc.boolean(), async (at, isCut) => {
        const bad = Buffer.from(isCut ? sent.subarray(0, at) : sent);
        if (!isCut) bad[at] = (bad[at] as number) ^ 0x40;
        const to = join(folder, 'out');
        await expect(unpackArchive(opened(cut(bad, [1000]), identities), to)).rejects.toThrow(/backup|key/);
        expect(existsSync(to) || existsSync(`${to}.partial`)).toBe(false);
      }),
      { numRuns: 40 },
    );
  }
});

it('another identity does not open it, and a mistyped recipient is refused before anything is sent', async () => {
  const [mine, other] = [await newIdentity(), await newIdentity()];
  const sent = await collect(await sealed(archiveOf(makeBackup(Buffer.from('x')), null).content, [mine.recipient]));
  const opening = unpackArchive(opened(cut(sent, [100]), [other.identity]), join(folder, 'out'));
  await expect(opening).rejects.toThrow('this identity does not open the backup');
  const mistyped = mine.recipient.replace(/.$/, (last) => (last === 'q' ? 'p' : 'q'));
  await expect(sealed(cut(sent, [9]), [mine.recipient, mistyped])).rejects.toThrow('backup.encryptTo[1]');
});

describe('a tar that is no backup is refused before it is on the disk', () => {
  const manifest = (files: object[]) =>
    Buffer.from(
      JSON.stringify({
        format: 2,
        time: '2026-01-01T04:00:00.000Z',
        source: 's',
        journal: null,
        namespaces: [],
        files,
      }),
    );
  const file = (name: string, bytes: number) => ({
    name,
    bytes,
    sha256: createHash('sha256').update('x'.repeat(bytes)).digest('hex'),
  });
  const good = manifest([file('database.sqlite', 1), file('waiting.jsonl', 0)]);
  const x = Buffer.from('x');
  it.each([
    ['without manifest', [tarEntry('b/database.sqlite', x)], /does not begin with its manifest/],
    [
      'with a link',
      [tarEntry('b/manifest.json', good), tarEntry('b/waiting.jsonl', Buffer.alloc(0), 'SymbolicLink')],
      /plain files/,
    ],
    ['with another file', [tarEntry('b/manifest.json', good), tarEntry('b/evil.sh', x)], /does not know/],
    [
      'with a longer file',
      [tarEntry('b/manifest.json', good), tarEntry('b/database.sqlite', Buffer.from('xx'))],
      /damaged/,
    ],
    ['with a file of a format to come', [tarEntry('b/manifest.json', Buffer.from('{"format":3}'))], /newer version/],
    ['that lacks a file', [tarEntry('b/manifest.json', good), tarEntry('b/database.sqlite', x)], /lacks waiting.jsonl/],
    ['with a file twice', [tarEntry('b/manifest.json', good), tarEntry('b/manifest.json', good)], /twice/],
  ])('%s', async (_, entries, line) => {
    const bytes = Buffer.concat([...entries, Buffer.alloc(1024)]);
    await expect(unpackArchive(cut(bytes, [700]), join(folder, 'out'))).rejects.toThrow(line);
    expect(existsSync(join(folder, 'out'))).toBe(false);
  });
});

it('does not begin to unpack what the disk cannot hold, and says what is missing', async () => {
  const { manifest } = makeBackup(Buffer.from('x'));
  const files = manifest.files.map((file) => ({ ...file, bytes: 2 ** 50 }));
  const head = tarEntry(`${NAME}/manifest.json`, Buffer.from(JSON.stringify({ ...manifest, files })));
  let isRead = false;
  const rest = async function* () {
    yield head;
    isRead = true;
    yield Buffer.alloc(2 ** 20);
  };
  const to = join(folder, 'out');
  await expect(unpackArchive(rest(), to)).rejects.toThrow(
    new RegExp(`^the unpacked backup needs [0-9,]{9,} GiB in ${folder}, and [0-9,]+ [MG]iB are free: make room there`),
  );
  expect([isRead, existsSync(to), existsSync(`${to}.partial`)]).toEqual([false, false, false]);
});

it('tells of a disk that is full in the middle by its folder', async () => {
  const full = () =>
    Promise.reject(Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }));
  await expect(namingFullDisk({ folder }, full)).rejects.toThrow(
    new RegExp(`^the disk is full \\([0-9,]+ [KMG]iB are free in ${folder}\\): make room there`),
  );
});
