import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { parseDatabaseConfig } from '#connector/config/database-config.ts';
import { installFxServer } from '#panel/setup/install-fxserver.ts';
import { namesConnector, withConnector } from '#panel/setup/server-cfg-lines.ts';
import type { ShippedFiles } from '#panel/setup/shipped-files.ts';
import { testFolder } from '#support/test-folder.ts';
import { ACCESS, shipFiles, task, write } from './shipped.ts';

const CFG = 'endpoint_add_tcp "0.0.0.0:30120"\nsv_hostname "Town"\n\nensure mapmanager\nensure town\n';

let home: string;
let root: string;
let shipped: ShippedFiles;

const install = (access = ACCESS) => installFxServer(root, shipped, () => access, task());
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const writeCfg = (text: string) => write(join(root, 'server.cfg'), text);
const cfgLines = () => read('server.cfg').split('\n');

beforeEach(() => {
  home = testFolder();
  root = join(home, 'server-data');
  shipped = shipFiles(join(home, 'shipped'));
  write(join(root, 'resources/mapmanager/fxmanifest.lua'), '');
});

describe('installing on FXServer', () => {
  it('refuses a folder without server.cfg, and changes nothing', async () => {
    await expect(install()).rejects.toThrow('there is no server.cfg in');
    expect(readdirSync(join(root, 'resources'))).toEqual(['mapmanager']);
  });

  it('refuses a server.cfg that leads out of the folder, until the owner has written the lines there', async () => {
    write(join(home, 'elsewhere.cfg'), CFG);
    symlinkSync('../elsewhere.cfg', join(root, 'server.cfg'));
    await expect(install()).rejects.toThrow('leads out of the server folder');
    expect(readFileSync(join(home, 'elsewhere.cfg'), 'utf8')).toBe(CFG);
    writeFileSync(join(home, 'elsewhere.cfg'), `ensure db_connector\n${CFG}`);
    expect((await install()).kept).toContain('server.cfg');
  });

  it('writes into no resources that lead out of the folder', async () => {
    rmSync(join(root, 'resources'), { recursive: true });
    write(join(home, 'others/kept.txt'), '');
    symlinkSync('../others', join(root, 'resources'));
    writeCfg(CFG);
    await expect(install()).rejects.toThrow('leads out of the server folder');
    expect(readdirSync(join(home, 'others'))).toEqual(['kept.txt']);
  });

  it('writes through no connector that lies elsewhere', async () => {
    write(join(home, 'others/fxmanifest.lua'), '');
    symlinkSync('../../others', join(root, 'resources/db_connector'));
    writeCfg(CFG);
    await expect(install()).rejects.toThrow('leads out of the server folder');
    expect(readdirSync(join(home, 'others'))).toEqual(['fxmanifest.lua']);
    expect(read('server.cfg')).toBe(CFG);
  });

  it('says what to do where the package has no connector', async () => {
    shipped = { connector: null, sample: null };
    writeCfg(CFG);
    await expect(install()).rejects.toThrow('copy that folder out of its zip into resources');
    expect(read('server.cfg')).toBe(CFG);
  });

  it('refuses a secret that would end its line', async () => {
    writeCfg(CFG);
    const secret = 'a-secret-with-a-mark"; exec evil.cfg; set a "b';
    await expect(install({ ...ACCESS, secret })).rejects.toThrow('cannot stand in server.cfg');
    expect(read('server.cfg')).toBe(CFG);
    expect(existsSync(join(root, 'db_connector.cfg'))).toBe(false);
  });

  it('puts the resource, its configuration and the lines there, and the secret where only the owner reads it', async () => {
    writeCfg(CFG);
    const { made, kept, notes, startLine } = await install();
    expect(made).toEqual([
      ...['resources/db_connector', 'resources/db_connector/vfs/database.json', 'db_connector.cfg', 'server.cfg'],
    ]);
    expect({ kept, startLine }).toEqual({ kept: [], startLine: '' });
    expect(notes).toEqual([expect.stringContaining('FXServer itself was not found')]);
    expect(statSync(join(root, 'db_connector.cfg')).mode & 0o777).toBe(0o600);
    const overrides = { url: ACCESS.url, keyId: ACCESS.keyId };
    expect([...parseDatabaseConfig(read('resources/db_connector/vfs/database.json'), overrides).namespaces]).toEqual([
      ...ACCESS.namespaces,
    ]);
    expect(read('server.cfg')).not.toContain(ACCESS.secret);
    expect(read('db_connector.cfg')).toContain(`set db_connector_secret "${ACCESS.secret}"`);
  });

  it('puts the lines before the first resource and leaves every byte of the owner, and the rights of the file', async () => {
    const owners = Buffer.concat([
      Buffer.from('sv_hostname "Caf\xe9"\r\nensure town\r\n', 'latin1'),
      Buffer.from([0xff]),
    ]);
    writeFileSync(join(root, 'server.cfg'), owners, { mode: 0o640 });
    await install();
    const after = readFileSync(join(root, 'server.cfg'));
    const text = after.toString('latin1');
    expect(text.indexOf('exec db_connector.cfg\r\nensure db_connector\r\n')).toBeGreaterThan(0);
    expect(text.indexOf('ensure db_connector')).toBeLessThan(text.indexOf('ensure town'));
    const added = text.split('\r\n').filter((line) => line.includes('db_connector'));
    const rest = text.replace(`${added.join('\r\n')}\r\n\r\n`, '');
    expect(Buffer.from(rest, 'latin1').equals(owners)).toBe(true);
    expect(statSync(join(root, 'server.cfg')).mode & 0o777).toBe(0o640);
  });

  it('keeps a connector in any folder of resources, and lines that the owner has', async () => {
    write(join(root, 'resources/[core]/db_connector/fxmanifest.lua'), 'mine');
    writeCfg(`${CFG}# ensure db_connector\n`);
    const first = await install();
    expect(first.kept).toEqual(['resources/[core]/db_connector']);
    expect(first.made).toContain('resources/[core]/db_connector/vfs/database.json');
    expect(cfgLines()).toContain('ensure db_connector');
    const before = read('server.cfg');
    expect(await install()).toMatchObject({ made: [], kept: ['resources/[core]/db_connector', 'server.cfg'] });
    expect(read('server.cfg')).toBe(before);
  });

  it.each([
    ['../server/run.sh', '+exec server.cfg'],
    ['run.sh', ''],
    ['../artifacts/cfx-server', '+exec server.cfg'],
    ['cfx-server', ''],
  ])('finds FXServer at %s', async (program, expected) => {
    writeCfg(CFG);
    write(join(root, program), '');
    const { startLine, notes } = await install();
    expect(startLine).toBe(expected === '' ? '' : `"${join(root, program)}" ${expected}`);
    expect(notes).toEqual([]);
  });
});

describe.skipIf(process.platform === 'win32')('a program that others of the box may have put there', () => {
  it.each([
    ['a file that all can write', () => chmodSync(join(home, 'server/run.sh'), 0o757)],
    ['a folder that all can write', () => chmodSync(join(home, 'server'), 0o757)],
    [
      'a link into one',
      () => {
        rmSync(join(home, 'server/run.sh'));
        write(join(home, 'open/run.sh'), '');
        chmodSync(join(home, 'open'), 0o757);
        symlinkSync('../open/run.sh', join(home, 'server/run.sh'));
      },
    ],
  ])('is not started: %s', async (_name, prepare) => {
    writeCfg(CFG);
    write(join(home, 'server/run.sh'), '');
    prepare();
    const { startLine, notes } = await install();
    expect(startLine).toBe('');
    expect(notes).toEqual([expect.stringContaining('FXServer itself was not found')]);
  });
});

describe('the lines in server.cfg', () => {
  it('are the only ones that change, for any text, and are not put there twice', () => {
    const line = fc.constantFrom('ensure a', ' start b', 'exec c.cfg', '# ensure d', 'set x "1"', '', 'sv_x é');
    const texts = fc.tuple(fc.array(line), fc.constantFrom('\n', '\r\n'), fc.boolean());
    fc.assert(
      fc.property(texts, ([lines, end, isEnded]) => {
        const text = lines.join(end) + (isEnded ? end : '');
        const after = withConnector(text);
        const isOwners = (owners: string) => owners.trim() !== '' && !owners.includes('db_connector');
        const ownersOf = (whole: string) =>
          whole
            .split('\n')
            .filter(isOwners)
            .map((each) => each.trimEnd());
        expect(ownersOf(after)).toEqual(ownersOf(text));
        expect(namesConnector(after)).toBe(true);
        const starts = after.split(/\r?\n/).findIndex((each) => /^\s*(ensure|start|exec)\s/.test(each));
        expect(after.split(/\r?\n/)[starts]).toBe('exec db_connector.cfg');
      }),
    );
  });
});
