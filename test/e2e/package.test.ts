import { spawn, spawnSync } from 'node:child_process';
import { createHash, generateKeyPairSync, verify } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EmbeddedFx } from '../support/embedded-fx.ts';
import { itIf } from '../support/it-if.ts';
import { makePackages, packageIn, unzip } from '../support/packages.ts';
import { testFolder } from '../support/test-folder.ts';
import { EmbeddedServer, gone } from './embedded-server.ts';

const SLOW_MS = 240_000;
const scratch = testFolder();
const [first, second] = [join(scratch, 'first'), join(scratch, 'second')];

/** Key of the releases. */
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const NEXT_KEY = Buffer.alloc(32, 7).toString('base64');

beforeAll(async () => {
  mkdirSync(scratch, { recursive: true });
  const keyFile = join(scratch, 'release.pem');
  writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  const signing = { RELEASE_KEY_FILE: keyFile, RELEASE_NEXT_KEYS: NEXT_KEY };
  await makePackages(first, 'UTC', '022', signing);
  await makePackages(second, 'Pacific/Auckland', '077', signing);
}, SLOW_MS);

const servers: EmbeddedServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.remove();
});

describe('npm run package', () => {
  it('writes the same bytes again, wherever and under whatever rights', () => {
    expect(readdirSync(first).toSorted()).toEqual([
      'SHA256SUMS',
      expect.stringMatching(/^db_connector-\d+\.\d+\.\d+\.zip$/),
      expect.stringMatching(/^sidecar-\d+\.\d+\.\d+\.zip$/),
    ]);
    for (const name of readdirSync(first)) {
      expect(readFileSync(join(second, name)).equals(readFileSync(join(first, name))), name).toBe(true);
    }
  });

  it('names the checksum of each', () => {
    const sums = readFileSync(join(first, 'SHA256SUMS'), 'utf8').trimEnd().split('\n');
    const expected = readdirSync(first)
      .filter((name) => name.endsWith('.zip'))
      .map(
        (name) =>
          `${createHash('sha256')
            .update(readFileSync(join(first, name)))
            .digest('hex')}  ${name}`,
      );
    expect(sums.toSorted()).toEqual(expected.toSorted());
  });

  it.each(['db_connector', 'sidecar'])('puts everything of %s into one folder, and no configuration', (name) => {
    const paths = unzip(packageIn(first, name), join(scratch, `contents-${name}`));
    expect(paths.filter((path) => !path.startsWith(`${name}/`))).toEqual([]);
    const sidecar = name === 'sidecar' ? 'sidecar/' : 'db_connector/sidecar/';
    const binaries = paths
      .filter((path) => path.endsWith('.node'))
      .map((path) => path.slice(path.lastIndexOf('/') + 1));
    const machines = ['darwin', 'linux', 'linuxmusl', 'win32'].flatMap((system) => [
      `${system}-arm64`,
      `${system}-x64`,
    ]);
    expect(binaries).toEqual(machines.map((machine) => `${machine}.node`));
    const expected = ['LICENSES.txt', 'README.md', 'main.js', 'service/sidecar.service', 'sidecar.example.json'];
    expect(paths).toEqual(expect.arrayContaining(expected.map((path) => `${sidecar}${path}`)));
    expect(paths).toContain(`${name}/LICENSES.txt`);
    const json = paths.filter(
      (path) =>
        path.endsWith('.json') &&
        !path.includes('/docs/grafana/') &&
        !/package\.json$|bundle\.json$|^sidecar\/RELEASE\.json$/.test(path),
    );
    expect(json.filter((path) => !path.endsWith('.example.json'))).toEqual([]);
    expect(paths.filter((path) => /secret|\.sqlite|\.log$|\.map$/.test(path))).toEqual([]);
  });
});

describe('the release in sidecar-VERSION.zip', () => {
  const folder = join(scratch, 'release');

  beforeAll(() => {
    unzip(packageIn(first, 'sidecar'), folder);
  });

  it('lists each of its files with its SHA-256', () => {
    const paths = readdirSync(join(folder, 'sidecar'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(join(folder, 'sidecar'), join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
      .filter((path) => !['RELEASE.json', 'RELEASE.sig'].includes(path));
    const hash = (path: string) =>
      createHash('sha256')
        .update(readFileSync(join(folder, 'sidecar', path)))
        .digest('hex');
    const { files, ...facts } = JSON.parse(readFileSync(join(folder, 'sidecar/RELEASE.json'), 'utf8'));
    expect(files).toEqual(Object.fromEntries(paths.map((path) => [path, hash(path)])));
    expect(facts).toMatchObject({ product: 'sidecar', channel: 'stable', keeper: 1, formats: { journal: 1 } });
    expect(facts.date).toMatch(/^\d{4}-\d\d-\d\d$/);
  });

  it('is signed with the key, and trusts it and the next one', () => {
    const manifest = readFileSync(join(folder, 'sidecar/RELEASE.json'));
    const signature = Buffer.from(readFileSync(join(folder, 'sidecar/RELEASE.sig'), 'utf8'), 'base64');
    expect(verify(null, manifest, publicKey, signature)).toBe(true);
    const { x = '' } = publicKey.export({ format: 'jwk' });
    const keys = readFileSync(join(folder, 'sidecar/release-keys.txt'), 'utf8');
    expect(keys).toBe(`${Buffer.from(x, 'base64url').toString('base64')}\n${NEXT_KEY}\n`);
  });
});

function quit(server: EmbeddedServer): Promise<unknown> {
  server.type('quit');
  return server.exit();
}

describe('db_connector-VERSION.zip', { timeout: SLOW_MS }, () => {
  function newServer(): EmbeddedServer {
    const server = new EmbeddedServer((bundles) => void unzip(packageIn(first, 'db_connector'), bundles));
    servers.push(server);
    return server;
  }

  it('unpacked where nothing else is, loads, serves, and leaves no process', async () => {
    const server = await newServer().start();
    expect(await server.line(/\] synced/)).toMatch(/ok$/);
    expect(await server.ask('mark 1', /mark 1/)).toMatch(/ok$/);
    expect(await server.ask('db-health', /database .*answers/)).toContain('sqlite');
    await server.line(/^every layer works$/);
    const child = server.sidecar;
    expect(await quit(server)).toBe(0);
    await gone(child);
  });

  it.each(['unpacked over it', 'put in its place'])('of the next version %s loses nothing', async (how) => {
    const server = await newServer().start();
    await server.line(/\] synced ok/);
    await server.ask('mark 1', /mark 1 ok/);
    expect(await quit(server)).toBe(0);

    const connector = join(server.root, 'bundles/db_connector');
    if (how === 'put in its place') rmSync(connector, { recursive: true });
    unzip(packageIn(first, 'db_connector'), join(server.root, 'bundles'));
    const manifest = join(connector, 'bundle.json');
    writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(/"version": "[^"]*"/, '"version": "2.0.0"'));

    const from = server.lines.length;
    await server.start();
    await server.line(/started db_connector 2\.0\.0/, from);
    expect(await server.line(/\] synced/, from)).toMatch(/ok$/);
    expect(await server.ask('mark 2', /mark 2/)).toMatch(/ok$/);
    expect(await server.marks()).toEqual([1, 2]);
  });
});

describe('db_connector-VERSION.zip on FXServer', { timeout: SLOW_MS }, () => {
  it.each(['unpacked over it', 'put in its place'])('of the next version %s loses nothing', async (how) => {
    const file = packageIn(first, 'db_connector');
    const server = new EmbeddedFx((resources) => void unzip(file, resources));
    try {
      server.startUp();
      await server.line(/\] synced ok/);
      await server.ask('mark 1', /\] mark 1 ok/);
      const child = server.sidecar;
      for (const resource of ['shop', 'db_connector']) server.fx.exec(`stop ${resource}`);
      await gone(child);

      const connector = server.fx.folderOf('db_connector');
      if (how === 'put in its place') rmSync(connector, { recursive: true });
      unzip(file, server.fx.resources);
      const manifest = join(connector, 'fxmanifest.lua');
      writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(/^version '.*'$/m, "version '2.0.0'"));

      const from = server.fx.lines.length;
      for (const resource of ['db_connector', 'shop']) server.fx.exec(`ensure ${resource}`);
      expect(await server.line(/\] synced/, from)).toMatch(/ok$/);
      await server.ask('mark 2', /\] mark 2 ok/);
      expect(await server.ask('marks', /\] marks/)).toMatch(/marks 1,2$/);
    } finally {
      await server.close();
    }
  });
});

describe('sidecar-VERSION.zip', { timeout: SLOW_MS }, () => {
  it('makes no configuration in the folder that the next version replaces', () => {
    const folder = join(scratch, 'inside');
    mkdirSync(folder);
    unzip(packageIn(first, 'sidecar'), folder);
    for (const args of [['init'], []]) {
      const { status, stderr } = spawnSync(process.execPath, ['main.js', ...args], {
        cwd: join(folder, 'sidecar'),
        encoding: 'utf8',
      });
      expect(stderr).toMatch(
        /^sidecar: .*sidecar\.json is in the program's folder, .* choose another place with --config$/m,
      );
      expect(status).toBe(1);
    }
    expect(existsSync(join(folder, 'sidecar/vfs'))).toBe(false);
  });

  it('unpacked where nothing else is, serves and stops', async () => {
    const folder = join(scratch, 'alone');
    mkdirSync(folder);
    unzip(packageIn(first, 'sidecar'), folder);
    const config = join(folder, 'vfs/sidecar.json');
    const child = spawn(process.execPath, ['sidecar/main.js', '--config', config], {
      cwd: folder,
      env: { ...process.env, SIDECAR_API_PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const closed = once(child, 'close');
    const lines = createInterface({ input: child.stdout });
    const addresses: Record<string, string> = {};
    await new Promise<void>((resolve, reject) => {
      lines.on('line', (line) => {
        const { msg, service, address } = JSON.parse(line) as { msg: string; service: string; address: string };
        if (msg === 'listening') addresses[service] = address;
        if (addresses.api !== undefined && addresses.panel !== undefined) resolve();
      });
      void closed.then(() => reject(new Error('it ended before it listened')));
    });
    const answer = await fetch(`${addresses.api}/readyz`);
    expect(await answer.json()).toEqual({ status: 'ready', database: true });
    const page = await fetch(`${addresses.panel}/`);
    expect(await page.text()).toMatch(/<script[^>]* src="\/?assets\//);
    expect(await (await fetch(`${addresses.panel}/api/bootstrap`)).json()).toMatchObject({ ok: true, setup: true });
    child.kill('SIGTERM');
    expect(await closed).toEqual([0, null]);
    expect(existsSync(join(folder, 'sidecar/docs/backup.md'))).toBe(true);
    expect(existsSync(config)).toBe(true);
    // Parts that its setup installs and its panel runs.
    for (const file of ['standalone/main.js', 'db_connector/server.js', 'server/bundles/sample_roleplay/bundle.json']) {
      expect(existsSync(join(folder, 'sidecar', file)), file).toBe(true);
    }
    expect(existsSync(join(folder, 'sidecar/db_connector/sidecar'))).toBe(false);
  });

  const { error } = spawnSync('systemd-analyze', ['--version']);
  itIf(
    error === undefined ? null : `systemd-analyze: ${error.message}`,
    'carries a unit that systemd understands',
    () => {
      unzip(packageIn(first, 'sidecar'), join(scratch, 'unit'));
      const unit = readFileSync(join(scratch, 'unit/sidecar/service/sidecar.service'), 'utf8');
      const verify = (text: string) => {
        const file = join(scratch, 'sidecar.service');
        writeFileSync(file, text);
        const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
        return `${status}${stdout}${stderr}`;
      };
      // It also looks whether the program is there; on this machine Node.js may lie elsewhere.
      const here = unit.replace('/usr/bin/node', process.execPath);
      expect(verify(here)).toBe('0');
      expect(verify(here.replace('ProtectHome=', 'ProtectHouse='))).toContain('ProtectHouse');
    },
  );
});
