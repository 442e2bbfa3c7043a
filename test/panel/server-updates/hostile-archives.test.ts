import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { unpackServer } from '#panel/work/unpack-server.ts';
import { testFolder } from '#support/test-folder.ts';
import { localRecord, type RawEntry, rawZip } from '../support/raw-zip.ts';

let folder: string;
let target: string;

beforeEach(() => {
  folder = testFolder();
  target = join(folder, 'unpacked');
});

/** Unpacks an archive that lies in the folder; resolves with the reason of its refusal, or null. */
async function refusal(name: string): Promise<string | null> {
  const done = unpackServer({ source: join(folder, name), target });
  return done.then(
    () => null,
    (error) => {
      expect(error).toMatchObject({ key: 'serverUpdates.archive' });
      return String(error.message);
    },
  );
}

const run = (program: string, ...args: string[]) => execFileSync(program, args, { cwd: folder });
const readBack = (path: string) => readFileSync(join(target, path), 'utf8');

describe('a .zip of a game server', () => {
  const cases: readonly (readonly [string, RawEntry[], RegExp])[] = [
    ['a wrong checksum', [{ name: 'run.sh', data: 'x', crc: 1, method: 0 }], /run\.sh.*checksum/],
    ['a device', [{ name: 'null', mode: 0o020666 }], /null.*device/],
    ['another local name', [{ name: 'a', localName: 'b', data: 'x' }], /heads/],
    ['an encrypted entry', [{ name: 'a', data: 'x', flags: 0x801 }], /encrypted/],
    [
      'a head in the content of another',
      [
        { name: 'outer', method: 0, data: localRecord({ name: 'inner', data: 'x' }) },
        { name: 'inner', data: 'x', inside: 0 },
      ],
      /overlaps/,
    ],
    ['more than 200 to 1', [{ name: 'bomb', data: Buffer.alloc(30 * 2 ** 20) }], /200 times/],
    ['a link that is too long', [{ name: 'l', data: 'x'.repeat(1025), mode: 0o120777 }], /link/],
    ['a link to nothing', [{ name: 'l', data: '', mode: 0o120777 }], /link/],
  ];

  it.each(cases)('with %s is refused', async (_what, entries, reason) => {
    writeFileSync(join(folder, '7.zip'), rawZip(entries));
    expect(await refusal('7.zip')).toMatch(reason);
  });

  it('keeps empty folders, and links as they are', async () => {
    const entries = [
      { name: 'cache/', mode: 0o040755 },
      { name: 'latest', data: 'cache', mode: 0o120777 },
    ];
    writeFileSync(join(folder, '7.zip'), rawZip(entries));
    expect(await refusal('7.zip')).toBeNull();
    expect(readdirSync(target).toSorted()).toEqual(['cache', 'latest']);
  });
});

describe('a .tar of a game server', () => {
  /** A tar with one file of this size and second names of it. */
  function twins(bytes: number, count: number): void {
    mkdirSync(join(folder, 'in'));
    writeFileSync(join(folder, 'in/a'), '');
    truncateSync(join(folder, 'in/a'), bytes);
    for (let n = 0; n < count; n += 1) run('ln', 'in/a', `in/b${n}`);
    run('tar', '-czf', '7.tar.gz', '-C', 'in', '.');
  }

  it('with second names of a file has copies of it, each with its mode', async () => {
    twins(10, 2);
    expect(await refusal('7.tar.gz')).toBeNull();
    expect(readdirSync(target).toSorted()).toEqual(['a', 'b0', 'b1']);
    expect(statSync(join(target, 'b1')).size).toBe(10);
  });

  it('that grows by second names of a large file is refused', async () => {
    twins(400 * 2 ** 20, 3);
    expect(await refusal('7.tar.gz')).toMatch(/at most 1024 MiB in all/);
  });

  it.each([['gnu'], ['posix']])(
    'with a sparse file in the form %s is refused, and loses no file silently',
    async (form) => {
      mkdirSync(join(folder, 'in'));
      writeFileSync(join(folder, 'in/data'), 'x');
      truncateSync(join(folder, 'in/data'), 2 ** 20);
      run('tar', '--sparse', `--format=${form}`, '-cf', '7.tar', '-C', 'in', '.');
      expect(await refusal('7.tar')).toMatch(/data.*sparse|sparse.*data/);
    },
  );

  it('with an entry of an unknown kind is refused', async () => {
    writeFileSync(join(folder, 'a'), 'x');
    run('tar', '-cf', '7.tar', 'a');
    const bytes = readFileSync(join(folder, '7.tar'));
    bytes[156] = 0x5a;
    const sum = bytes.subarray(0, 512).reduce((all, byte, at) => all + (at >= 148 && at < 156 ? 0x20 : byte), 0);
    bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
    writeFileSync(join(folder, '7.tar'), bytes);
    expect(await refusal('7.tar')).toMatch(/^a: is neither a file nor a folder nor a link/);
  });

  it.each([['gnu'], ['posix'], ['ustar'], ['v7']])('in the form %s, with long names, is read', async (form) => {
    const long =
      form === 'v7' ? 'a.txt' : `${'d'.repeat(60)}/${'e'.repeat(60)}/${form === 'ustar' ? 'f' : 'f'.repeat(90)}.txt`;
    mkdirSync(join(folder, 'in', long, '..'), { recursive: true });
    writeFileSync(join(folder, 'in', long), 'hello');
    run('tar', `--format=${form}`, '-cJf', '7.tar.xz', '-C', 'in', '.');
    expect(await refusal('7.tar.xz')).toBeNull();
    expect(readBack(long)).toBe('hello');
  });

  it.each([
    ['gzip', '7.tar.gz'],
    ['xz', '7.tar.xz'],
  ])('of two streams of %s is read whole', async (program, name) => {
    writeFileSync(join(folder, 'a'), 'a'.repeat(5000));
    writeFileSync(join(folder, 'b'), 'b'.repeat(5000));
    run('tar', '-cf', 'all.tar', 'a', 'b');
    const all = readFileSync(join(folder, 'all.tar'));
    const pack = (bytes: Buffer) => execFileSync(program, ['-c'], { input: bytes });
    writeFileSync(join(folder, name), Buffer.concat([pack(all.subarray(0, 3000)), pack(all.subarray(3000))]));
    expect(await refusal(name)).toBeNull();
    expect(readBack('b')).toBe('b'.repeat(5000));
  });

  it.each([['tar'], ['tar.gz'], ['tar.xz']])('.%s that is cut off at any place is refused', async (ending) => {
    writeFileSync(join(folder, 'a'), execFileSync('head', ['-c', '40000', '/dev/urandom']));
    writeFileSync(join(folder, 'b'), 'b'.repeat(5000));
    run('tar', '-caf', `whole.${ending}`, 'a', 'b');
    const whole = readFileSync(join(folder, `whole.${ending}`));
    for (const share of [0, 0.001, 0.3, 0.6, 0.8]) {
      writeFileSync(join(folder, `7.${ending}`), whole.subarray(0, Math.floor(whole.length * share)));
      expect(await refusal(`7.${ending}`), `${share}`).not.toBeNull();
      execFileSync('rm', ['-rf', target]);
    }
  });

  it('whose bytes are no tar is refused', async () => {
    for (const bytes of [Buffer.alloc(0), Buffer.from('no tar'), gzipSync('no tar'), Buffer.alloc(4096, 0x41)]) {
      writeFileSync(join(folder, '7.tar.gz'), bytes);
      expect(await refusal('7.tar.gz')).not.toBeNull();
    }
    expect(existsSync(join(target, 'a'))).toBe(false);
  });
});

it('entries that no system needs are bounded too', async () => {
  const many = Array.from({ length: 20_001 }, (_, index) => ({ name: `__MACOSX/${index}`, method: 0 }));
  writeFileSync(join(folder, '7.zip'), rawZip(many));
  expect(await refusal('7.zip')).toMatch(/at most 20000 entries/);
});
