import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { SettingValues } from '#panel/settings/panel-settings.ts';
import { freePort } from '#scripts/servers/free-port.ts';
import { fakeLine, ServerRig } from '#test/panel/support/server-rig.ts';

const rigs: ServerRig[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(rigs.splice(0).map((rig) => rig.remove()));
});

function newRig(changes: Partial<SettingValues>): ServerRig {
  const rig = new ServerRig({ stopLine: '', ...changes });
  rigs.push(rig);
  return rig;
}

function addBundle(rig: ServerRig, name: string, script: string, manifest: object = {}): void {
  const folder = join(rig.settings.values.serverRoot, 'bundles', name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'server.js'), script);
  writeFileSync(join(folder, 'bundle.json'), JSON.stringify({ version: '1.2.3', server: 'server.js', ...manifest }));
}

const HANG = `export default (host) => host.commands.register('hang', '', ([ms]) => {
  const end = Date.now() + Number(ms);
  while (Date.now() < end);
});`;

describe('the standalone server', () => {
  it('tells its bundles beside the console, runs at its first line, and stops by quit', async () => {
    const rig = newRig({ backend: 'standalone' });
    addBundle(rig, 'shop', 'export default () => {};', { description: 'sells', tags: ['town'] });
    addBundle(rig, 'broken', "export default () => { throw new Error('no'); };");
    const told: string[] = [];
    rig.control.onBundles(() => told.push(rig.control.bundles() === null ? 'gone' : 'there'));
    rig.control.start('anna');
    expect(rig.state).toBe('starting');
    await rig.line(/bundles started/);
    expect(rig.state).toBe('running');
    await expect.poll(() => rig.control.bundles()?.map(({ state }) => state)).toEqual(['failed', 'started']);
    expect(rig.control.bundles()?.[1]).toEqual({
      ...{ name: 'shop', version: '1.2.3', description: 'sells', state: 'started' },
      ...{ dependencies: [], tags: ['town'], autostart: true },
    });
    rig.control.sendCommand('stop shop', 'anna');
    await expect.poll(() => rig.control.bundles()?.map(({ state }) => state)).toEqual(['failed', 'stopped']);
    rig.control.stop('anna');
    expect((await rig.reaches('stopped')).exit).toEqual({ code: 0, signal: null, reason: 'asked' });
    expect(rig.control.bundles()).toBeNull();
    expect(told.at(-1)).toBe('gone');
  });

  it('names in the crash record what was starting', async () => {
    const rig = newRig({ backend: 'standalone' });
    addBundle(
      rig,
      'heavy',
      'export default async () => { await new Promise((r) => setTimeout(r, 300)); process.exit(9); };',
    );
    rig.control.start('anna');
    expect((await rig.reaches('crashed')).exit).toEqual({ code: 9, signal: null, reason: 'crash' });
    expect(rig.crashes.get('1').starting).toEqual(['heavy']);
  });

  it('is shown to hang, and to be well again', async () => {
    const rig = newRig({ backend: 'standalone', hangSeconds: 1 });
    addBundle(rig, 'lazy', HANG);
    rig.control.start('anna');
    await rig.line(/bundles started/);
    rig.control.sendCommand('hang 3000', 'anna');
    await expect.poll(() => rig.control.status().hungSince).not.toBeNull();
    expect(rig.state).toBe('running');
    await rig.line(/The server is frozen: no output and no answer for \d+ s/);
    await expect.poll(() => rig.control.status().hungSince).toBeNull();
    expect(rig.runs).toBe(1);
    await rig.line(/The server answers again/);
  });

  it('is restarted when it hangs where the owner said so', async () => {
    const rig = newRig({
      ...{ backend: 'standalone', hangSeconds: 2, restartHungServer: true },
      ...{ stopWaitSeconds: 0.2, killWaitSeconds: 0.2 },
    });
    addBundle(rig, 'lazy', HANG);
    rig.control.start('anna');
    await rig.line(/bundles started/);
    rig.control.sendCommand('hang 600000', 'anna');
    await expect.poll(() => rig.texts().filter((text) => text.includes('bundles started')).length).toBe(2);
    expect(rig.runs).toBe(2);
    expect(rig.control.status()).toMatchObject({ state: 'running', hungSince: null });
  });

  it('is restarted when the owner says so while it hangs, which is when owners think of it', async () => {
    const rig = newRig({ backend: 'standalone', hangSeconds: 2, stopWaitSeconds: 0.2, killWaitSeconds: 0.2 });
    addBundle(rig, 'lazy', HANG);
    rig.control.start('anna');
    await rig.line(/bundles started/);
    rig.control.sendCommand('hang 600000', 'anna');
    await expect.poll(() => rig.control.status().hungSince).not.toBeNull();
    rig.settings.update({ restartHungServer: true });
    await expect.poll(() => rig.texts().filter((text) => text.includes('bundles started')).length).toBe(2);
    expect(rig.control.status()).toMatchObject({ state: 'running', hungSince: null });
  });
});

describe('any program', () => {
  it('is asked by the command that its owner named, once it is silent, and is shown to hang where nothing comes', async () => {
    const rig = newRig({ backend: 'command', hangSeconds: 1, hangCommand: 'echo still here' });
    await rig.started();
    await expect.poll(() => rig.texts().filter((text) => text.includes('still here')).length).toBeGreaterThan(2);
    expect(rig.control.status().hungSince).toBeNull();
    rig.control.sendCommand('hang', 'anna');
    await expect.poll(() => rig.control.status().hungSince).not.toBeNull();
    expect(rig.state).toBe('running');
  });

  it('is never said to hang where nothing is to be typed', async () => {
    const rig = newRig({ backend: 'command', hangSeconds: 1, hangCommand: '' });
    await rig.started();
    rig.control.sendCommand('hang', 'anna');
    const began = Date.now();
    await expect.poll(() => Date.now() - began).toBeGreaterThan(2500);
    expect(rig.control.status().hungSince).toBeNull();
  });
});

describe('an FXServer', () => {
  it('runs when its own port answers, and tells who plays and what runs', async () => {
    const port = await freePort();
    const rig = newRig({ backend: 'fxserver', startLine: fakeLine('--http', String(port)) });
    writeFileSync(join(rig.settings.values.serverRoot, 'server.cfg'), `endpoint_add_tcp "0.0.0.0:${port}"\n`);
    await rig.started();
    await rig.reaches('running');
    await expect.poll(() => rig.control.health()).toEqual({ players: 1, resources: ['chat', 'db_connector'] });
    rig.control.stop('anna');
    expect((await rig.reaches('stopped')).exit).toEqual({ code: 0, signal: null, reason: 'asked' });
    expect(rig.texts('in').at(-1)).toBe('panel> quit');
    expect(rig.control.health()).toBeNull();
  });

  /** Lines that `db_connector` takes, as the server has read them, and the stop lines among them. */
  const typed = (rig: ServerRig) =>
    rig.texts('in').map((text) => {
      const [, name, fields = ''] = /^panel> db-event (\w+) ([\w-]+)$/.exec(text) ?? [];
      return name === undefined ? text : [name, JSON.parse(Buffer.from(fields, 'base64url').toString('utf8'))];
    });

  it('hears of each stop that is asked for before its stop line, with the waits and the author', async () => {
    const port = await freePort();
    const waits = { stopWaitSeconds: 20, killWaitSeconds: 10 };
    const rig = newRig({ backend: 'fxserver', startLine: fakeLine('--http', String(port)), locale: 'de', ...waits });
    writeFileSync(join(rig.settings.values.serverRoot, 'server.cfg'), `endpoint_add_tcp "0.0.0.0:${port}"\n`);
    const event = (author: string, message: string) => ['serverShuttingDown', { delay: 30_000, author, message }];
    await rig.started();
    await rig.reaches('running');
    rig.control.restart('anna (phone)');
    await rig.line(/^did db-event serverShuttingDown/);
    await rig.reaches('starting');
    await rig.reaches('running');
    rig.control.stop('schedule');
    await rig.reaches('stopped');
    expect(typed(rig)).toEqual([
      event('anna', 'Der Server wird neu gestartet.'),
      'panel> quit',
      event('panel', 'Der Server wird heruntergefahren.'),
      'panel> quit',
    ]);
  });

  it('hears of no stop by force, nor without events', async () => {
    const port = await freePort();
    const rig = newRig({ backend: 'fxserver', startLine: fakeLine('--http', String(port)), warnEvents: false });
    writeFileSync(join(rig.settings.values.serverRoot, 'server.cfg'), `endpoint_add_tcp "0.0.0.0:${port}"\n`);
    await rig.started();
    rig.control.stop('anna');
    await rig.reaches('stopped');
    rig.settings.update({ warnEvents: true, shutdownMode: 'immediate' });
    rig.control.start('anna');
    await rig.reaches('starting');
    rig.control.stop('anna');
    await rig.reaches('stopped');
    rig.settings.update({ shutdownMode: 'graceful' });
    rig.control.start('anna');
    await rig.reaches('starting');
    rig.control.forceStop('anna');
    await rig.reaches('stopped');
    expect(typed(rig)).toEqual(['panel> quit']);
  });

  it('hears of it when the panel ends', async () => {
    const port = await freePort();
    const rig = newRig({ backend: 'fxserver', startLine: fakeLine('--http', String(port)) });
    await rig.started();
    await rig.control.close();
    expect(typed(rig)).toMatchObject([['serverShuttingDown', { author: 'panel' }], 'panel> quit']);
  });

  it('is looked for in its folder where no start line is set', async () => {
    const rig = newRig({ backend: 'fxserver', startLine: '' });
    rig.control.start('anna');
    await rig.line(/no (run\.sh or cfx-server|FXServer\.exe or cfx-server\.exe) in the server folder/);
    expect(rig.control.status()).toMatchObject({ state: 'crashed', gaveUp: 'launch' });
  });
});
