import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { EmbeddedServer, gone, SHIPPED } from './embedded-server.ts';

const SLOW_MS = 120_000;
const UP = /the sidecar of this server is up/;
const servers: EmbeddedServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.remove();
});

function newServer(): EmbeddedServer {
  const server = new EmbeddedServer();
  servers.push(server);
  return server;
}

async function quit(server: EmbeddedServer): Promise<void> {
  server.type('quit');
  expect(await server.exit()).toBe(0);
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true }).map(String).toSorted();
}

describe('a connector with nothing configured', { timeout: SLOW_MS }, () => {
  it('serves the calls that bundles make at once, keeps all data in vfs, and leaves no process', async () => {
    const server = await newServer().start();
    expect(await server.line(/\] synced/)).toMatch(/synced ok$/);
    expect(await server.ask('mark 1', /mark 1/)).toMatch(/ok$/);
    expect(await server.marks()).toEqual([1]);
    const child = server.sidecar;
    if (process.platform === 'linux') {
      const [, ...args] = readFileSync(`/proc/${child}/cmdline`, 'utf8').split('\0');
      expect(args).toEqual([join(server.root, 'bundles/db_connector/sidecar/main.js'), '--embedded', '']);
    }
    await quit(server);
    await gone(child);
    expect(filesOf(server.vfs)).toEqual(
      expect.arrayContaining(['data/database.sqlite', 'logs/sidecar.log', 'sidecar.json']),
    );
    // The key of the API is nowhere; this one waits for the set-up of the panel.
    expect(filesOf(join(server.vfs, 'secrets'))).toEqual(['panel-setup.key']);
    for (const made of ['secrets', 'data/database.sqlite', 'data/panel.sqlite', 'logs/sidecar.log']) {
      expect(statSync(join(server.vfs, made)).mode & 0o077, made).toBe(0);
    }
    expect(filesOf(join(server.root, 'bundles/db_connector'))).toEqual(filesOf(SHIPPED));
    expect(statSync(join(server.vfs, 'sidecar.json')).mode & 0o077).toBe(0);
  });

  it('survives the death of its sidecar: what was acknowledged is there, and calls wait for the next one', async () => {
    const server = await newServer().start();
    await server.line(/\] synced ok/);
    server.type('storm 1000 100000');
    await server.line(/acknowledged 1019$/);
    const from = server.lines.length;
    process.kill(server.sidecar, 'SIGKILL');
    expect(await server.line(/the sidecar ended/, from)).toContain('signal SIGKILL; it is started again in 1 s');
    // Given while there is no sidecar: it waits.
    expect(await server.ask('mark 1', /mark 1 /)).toMatch(/ok$/);
    await server.line(UP, from);
    const again = server.lines.length;
    const acknowledged = server.lines
      .map((line) => /acknowledged (\d+)$/.exec(line)?.[1])
      .filter(Boolean)
      .map(Number);
    expect(acknowledged.length).toBeGreaterThanOrEqual(20);
    server.type('db-status');
    expect(await server.line(/circuit +closed/, again)).toBeDefined();
    // A find gives a thousand rows at most.
    const expected = acknowledged.slice(0, 900);
    const there = await server.marks();
    expect(expected.filter((id) => !there.includes(id))).toEqual([]);
  });

  it.skipIf(process.platform === 'win32')('loses only what was in flight when its sidecar is killed', async () => {
    const server = await newServer().start();
    await server.line(/\] synced ok/);
    process.kill(server.sidecar, 'SIGSTOP');
    server.type('burst 400');
    await server.line(/burst given/);
    expect(JSON.parse(await server.ask('db-status json', /^\{/))).toMatchObject({ inFlight: 16, queued: 384 });
    process.kill(server.sidecar, 'SIGKILL');
    const codes = JSON.parse((await server.line(/burst \{/)).replace(/^.*burst /, ''));
    expect(codes).toEqual({ ok: 384, network: 16 });
  });

  it.skipIf(process.platform === 'win32')(
    'replaces a sidecar that hangs by db-reload, and leaves none when it quits',
    async () => {
      const server = await newServer().start();
      await server.line(/\] synced ok/);
      expect(await server.ask('mark 1', /mark 1 /)).toMatch(/ok$/);
      const hung = server.sidecar;
      process.kill(hung, 'SIGSTOP');
      const from = server.lines.length;
      server.type('db-reload');
      expect(await server.line(/killed/, from)).toContain('the sidecar does not answer: killed');
      await server.line(UP, from);
      await gone(hung);
      expect(await server.marks()).toEqual([1]);
      const next = server.sidecar;
      process.kill(next, 'SIGSTOP');
      await quit(server);
      await gone(next);
    },
  );

  it('ends its sidecar when it is killed, and the next start has everything', async () => {
    const server = await newServer().start();
    await server.line(/\] synced ok/);
    expect(await server.ask('mark 7', /mark 7/)).toMatch(/ok$/);
    const child = server.sidecar;
    server.signal('SIGKILL');
    await server.exit();
    await gone(child);
    const from = server.lines.length;
    await server.start();
    expect(await server.line(/\] synced/, from)).toMatch(/ok$/);
    expect(await server.marks()).toEqual([7]);
  });
});

describe('two servers on one box', { timeout: SLOW_MS }, () => {
  it('each with a folder of its own do not meet', async () => {
    const [first, second] = await Promise.all([newServer().start(), newServer().start()]);
    for (const server of [first, second]) await server.line(/\] synced ok/);
    await first.ask('mark 1', /mark 1 ok/);
    await second.ask('mark 2', /mark 2 ok/);
    expect(await first.marks()).toEqual([1]);
    expect(await second.marks()).toEqual([2]);
  });

  it('with one folder: the second names the first, and comes up when that is gone', async () => {
    const first = await newServer().start();
    await first.line(/\] synced ok/);
    const holder = first.sidecar;
    const second = newServer();
    await second.start(['--root', second.root, '--vfs', first.vfs]);
    expect(await second.line(/in use/)).toMatch(
      new RegExp(`${first.vfs} is in use by another sidecar \\(process ${holder}, since \\d{4}-.*Z\\): give each`),
    );
    expect(await first.ask('mark 3', /mark 3/)).toMatch(/ok$/);
    await quit(first);
    await gone(holder);
    await second.line(UP);
    expect(await second.marks()).toEqual([3]);
  });
});

describe('a sidecar that cannot start', { timeout: SLOW_MS }, () => {
  async function startWith(database: object): Promise<EmbeddedServer> {
    const server = newServer();
    server.file('vfs/database.json', JSON.stringify(database));
    return server.start();
  }

  it('for want of Node.js says what to install, in one line', async () => {
    const server = await startWith({ sidecar: { mode: 'embedded', node: '/nowhere/node' } });
    const line = await server.line(/the sidecar needs Node\.js/);
    expect(line).toMatch(/"\/nowhere\/node" was not found: install Node\.js 24 from https:\/\/nodejs\.org/);
    expect(await server.line(/\] synced/)).toMatch(/unavailable .*was not found/);
    expect(server.lines.filter((each) => each.includes('needs Node.js') && !each.includes('synced'))).toHaveLength(1);
  });

  it.skipIf(process.platform === 'win32').each(['18.19.1', '22.22.1', '23.11.1', '24.14.0'])(
    'for Node.js %s says which one it found',
    async (version) => {
      const server = newServer();
      server.file('old-node', `#!/bin/sh\necho v${version}\n`);
      chmodSync(join(server.root, 'old-node'), 0o755);
      server.file(
        'vfs/database.json',
        JSON.stringify({ sidecar: { mode: 'embedded', node: join(server.root, 'old-node') } }),
      );
      await server.start();
      const line = await server.line(/needs Node\.js/);
      expect(line).toContain('needs Node.js 22.22.2, or 24.14.1 or newer, and');
      expect(line).toContain(`old-node" is Node.js ${version}: install`);
    },
  );

  it('with its data in the folder that the next version replaces is refused', async () => {
    const server = await startWith({ sidecar: { mode: 'embedded', folder: '../bundles/db_connector/data' } });
    expect(await server.line(/not configured/)).toMatch(/sidecar\.folder: expected a folder outside of .*db_connector/);
    expect(existsSync(join(server.root, 'bundles/db_connector/data'))).toBe(false);
  });

  it('says what its file lacks, and comes up with db-reload once that is fixed', async () => {
    const server = newServer();
    server.file('vfs/sidecar.json', '{"keys":[],"colour":1}');
    await server.start();
    expect(await server.line(/sidecar: .*colour/)).toMatch(/colour: unknown setting/);
    server.file(
      'vfs/sidecar.json',
      '{"keys":[{"kid":"local","secretFile":"s","operations":["*"],"namespaces":["*"]}]}',
    );
    server.type('db-reload');
    expect(await server.line(/\] synced/)).toMatch(/ok$/);
    const child = server.sidecar;

    server.file('vfs/sidecar.json', '{"keys":[],"colour":1}');
    expect(await server.ask('db-reload', /stays/)).toMatch(/the running configuration stays: .*colour/);
    expect(await server.ask('mark 4', /mark 4/)).toMatch(/ok$/);
    expect(server.sidecar).toBe(child);
  });

  it('takes limits and permissions from sidecar.json of its folder', async () => {
    const server = newServer();
    const key = { kid: 'local', secretFile: 's', operations: ['find'], namespaces: ['*'] };
    server.file('vfs/sidecar.json', JSON.stringify({ keys: [key], limits: { maxRows: 1 } }));
    await server.start();
    expect(await server.line(/\] synced/)).toMatch(/forbidden/);
    writeFileSync(
      join(server.vfs, 'sidecar.json'),
      JSON.stringify({ keys: [{ ...key, operations: ['*'] }], limits: { maxRows: 1 } }),
    );
    const from = server.lines.length;
    server.type('db-reload');
    await server.line(UP, from);
    server.type('restart shop');
    await server.line(/\] synced ok/, from);
    await server.ask('mark 1', /mark 1 ok/);
    await server.ask('mark 2', /mark 2 ok/);
    expect(await server.marks()).toEqual([1]);
  });
});
