import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '#scripts/servers/free-port.ts';
import { testFolder } from '#support/test-folder.ts';
import { FakeKeeper } from '../support/fake-keeper.ts';
import { type Files, InstallRig } from '../support/install-rig.ts';
import { fakeLine } from '../support/server-rig.ts';

const FX_PROGRAM = fileURLToPath(new URL('../../support/fx/fx-program.ts', import.meta.url));

/** A resource of FXServer that says its version when it runs. */
function resourceOf(version: string, script = '', manifest = ''): Files {
  return {
    'fxmanifest.lua': `fx_version 'cerulean'\ngame 'gta5'\nnode_version '22'\nversion '${version}'\n${manifest}\nserver_scripts { 'server.js' }\n`,
    'server.js': `console.log('I am ${version}');\n${script}`,
  };
}

/** Starts `shop` and `bank`, which needs it, and not `idle`. */
async function startFx(lines: readonly string[] = []): Promise<InstallRig> {
  const root = testFolder();
  const port = await freePort();
  const config = [`endpoint_add_tcp "127.0.0.1:${port}"`, ...lines, 'ensure shop', 'ensure bank', ''];
  writeFileSync(join(root, 'server.cfg'), config.join('\n'));
  const bundles = {
    shop: resourceOf('1.0.0'),
    bank: resourceOf('1.0.0', '', "dependencies { 'shop' }"),
    idle: resourceOf('1.0.0'),
  };
  const started = { backend: 'fxserver', startLine: `"${process.execPath}" "${FX_PROGRAM}"` } as const;
  const rig = await InstallRig.start(bundles, started, root);
  await rig.run();
  return rig;
}

describe('on a running FXServer', () => {
  let rig: InstallRig;
  const texts = async () =>
    (await rig.owner.get<{ lines: { text: string }[] }>('/api/logs')).body.lines.map(({ text }) => text);
  const saidOf = async (pattern: RegExp) => (await texts()).filter((text) => pattern.test(text)).length;

  beforeAll(async () => {
    rig = await startFx();
  });
  afterAll(() => rig.stop());

  it('a version that runs is kept, its manifest read again, its dependents started again', async () => {
    const running = { bank: 'started 1.0.0', idle: 'stopped 1.0.0', shop: 'started 1.0.0' };
    await expect.poll(() => rig.states(), { timeout: 20_000 }).toEqual(running);
    const { outcome } = await rig.ended(rig.put({ bundles: [{ name: 'shop', files: resourceOf('1.1.0') }] }));
    expect(outcome.bundles).toEqual([{ name: 'shop', from: '1.0.0', to: '1.1.0', state: 'kept', reason: '' }]);
    expect(rig.read('shop/fxmanifest.lua')).toContain('1.1.0');
    expect(existsSync(join(rig.root, '.panel/versions/shop/1/fxmanifest.lua'))).toBe(true);
    const lines = (await texts()).map((text) => text.replace(/^\[.*?\] /, ''));
    const commands = lines.filter((text) => /^panel> |^I am 1\.1\.0/.test(text)).slice(-6);
    expect(commands).toEqual([
      ...['panel> stop bank', 'panel> stop shop'],
      ...['panel> refresh', 'panel> start shop', 'panel> start bank', 'I am 1.1.0'],
    ]);
  });

  it.each([
    [
      'throws while it is loaded',
      resourceOf('1.2.0', 'throw new Error("no goods");'),
      /server\.js in resource shop: Error: no goods/,
    ],
    ['lacks a script', resourceOf('1.2.1', '', "server_script 'gone.js'"), /gone\.js/],
    ['is no resource', { 'server.js': '' }, /Couldn't find resource shop/],
  ])('one that %s goes back, and the older one runs with its dependents', async (_what, files, reason) => {
    const job = await rig.ended(rig.put({ bundles: [{ name: 'shop', files }] }));
    expect(job).toMatchObject({ state: 'failed', outcome: { bundles: [{ name: 'shop', state: 'rolledBack' }] } });
    expect(job.outcome.bundles[0]?.reason).toMatch(reason);
    expect(rig.read('shop/fxmanifest.lua')).toContain('1.1.0');
    expect((await texts()).findLast((text) => /I am/.test(text))).toMatch(/I am 1\.0\.0/);
    expect(await saidOf(/I am 1\.1\.0/)).toBeGreaterThan(1);
  });

  it('a new one is known to the server at once, and one that nothing starts stays unproven', async () => {
    writeFileSync(join(rig.root, 'server.cfg'), `${readFileSync(join(rig.root, 'server.cfg'), 'utf8')}ensure fresh\n`);
    const fresh = await rig.ended(rig.put({ bundles: [{ name: 'fresh', files: resourceOf('0.1.0') }] }));
    expect(fresh.outcome.bundles).toEqual([{ name: 'fresh', from: null, to: '0.1.0', state: 'kept', reason: '' }]);
    const idle = await rig.ended(rig.put({ bundles: [{ name: 'idle', files: resourceOf('2.0.0') }] }));
    expect(idle.outcome.bundles).toMatchObject([{ name: 'idle', to: '2.0.0', state: 'unproven' }]);
  });

  it('errors of a script that runs are kept, with their number and the first of them', async () => {
    const script =
      "setTimeout(() => { for (const line of [7, 8]) console.log('^1SCRIPT ERROR: @shop/server.js:' + line + ': nil'); });";
    const { outcome } = await rig.ended(rig.put({ bundles: [{ name: 'shop', files: resourceOf('1.3.0', script) }] }));
    expect(outcome.bundles).toMatchObject([
      { state: 'kept', reason: /^2 script errors, the first: .*server\.js:7: nil/ },
    ]);
  });

  it('a rollback puts the version before it back', async () => {
    const { outcome } = await rig.ended(await rig.rollback({ name: 'shop' }));
    expect(outcome.bundles).toMatchObject([{ from: '1.3.0', to: '1.1.0', state: 'kept' }]);
    expect((await texts()).findLast((text) => /I am 1\.[1-9]/.test(text))).toMatch(/I am 1\.1\.0/);
  });

  it('one that ends the server goes back before the server starts again', async () => {
    const files = resourceOf('1.4.0', 'setTimeout(() => process.exit(9), 50);');
    const job = await rig.ended(rig.put({ bundles: [{ name: 'shop', files }] }));
    expect(job.outcome.bundles).toMatchObject([{ state: 'rolledBack', reason: 'the server ended: exit code 9' }]);
    expect(rig.read('shop/fxmanifest.lua')).toContain('1.1.0');
    await expect.poll(() => rig.states(), { timeout: 20_000 }).toMatchObject({ shop: 'started 1.1.0' });
  });

  it('a deleted one that is brought back lies where it lay', async () => {
    const info = await rig.owner.post<{ info: { hash: string } }>('/api/bundles/delete-info', { name: 'fresh' });
    const body = { name: 'fresh', confirm: 'fresh', hash: info.body.info.hash };
    const gone = await rig.owner.post<{ status: { id: string } }>('/api/bundles/delete', body);
    expect(await rig.ended(gone.body.status.id)).toMatchObject({ state: 'succeeded' });
    expect(await rig.states()).not.toHaveProperty('fresh');
    const { body: list } = await rig.owner.get<{ trash: { id: string }[] }>('/api/bundles/trash');
    const back = await rig.owner.post<{ status: { id: string } }>('/api/bundles/restore', { id: list.trash[0]?.id });
    expect(await rig.ended(back.body.status.id)).toMatchObject({ state: 'succeeded' });
    expect(rig.read('fresh/fxmanifest.lua')).toContain('0.1.0');
  });
});

describe('on an FXServer that never names its resources over HTTP', () => {
  let rig: InstallRig;

  beforeAll(async () => {
    rig = await startFx(['# names no resources']);
  });
  afterAll(() => rig.stop());

  it('the console says what runs', async () => {
    const running = { bank: 'started 1.0.0', idle: 'stopped 1.0.0', shop: 'started 1.0.0' };
    await expect.poll(() => rig.states()).toEqual(running);
    await rig.owner.post('/api/bundles/bank/stop');
    await expect.poll(() => rig.states()).toEqual({ ...running, bank: 'stopped 1.0.0' });
    await rig.owner.post('/api/bundles/bank/start');
    await expect.poll(() => rig.states()).toEqual(running);
  });

  it('a version that runs is stopped first, proven and kept; one that fails goes back', async () => {
    const put = (version: string, script = '') =>
      rig.ended(rig.put({ bundles: [{ name: 'shop', files: resourceOf(version, script) }] }));
    expect((await put('1.1.0')).outcome.bundles).toMatchObject([{ from: '1.0.0', to: '1.1.0', state: 'kept' }]);
    const { body } = await rig.owner.get<{ lines: { text: string }[] }>('/api/logs');
    const typed = body.lines.map(({ text }) => text).filter((text) => text.startsWith('panel> '));
    expect(typed.slice(-5)).toEqual(
      ['stop bank', 'stop shop', 'refresh', 'start shop', 'start bank'].map((line) => `panel> ${line}`),
    );
    const failed = await put('1.2.0', 'throw new Error("no goods");');
    expect(failed.outcome.bundles).toMatchObject([{ state: 'rolledBack' }]);
    await expect.poll(() => rig.states()).toMatchObject({ bank: 'started 1.0.0', shop: 'started 1.1.0' });
  });

  it('one that is stopped stays stopped', async () => {
    const { outcome } = await rig.ended(rig.put({ bundles: [{ name: 'idle', files: resourceOf('2.0.0') }] }));
    expect(outcome.bundles).toMatchObject([{ to: '2.0.0', state: 'unproven' }]);
    expect(await rig.states()).toMatchObject({ idle: 'stopped 2.0.0' });
  });
});

it('nothing that may run is renamed if neither HTTP nor the console says what runs', async () => {
  const root = testFolder();
  const kept = { phase: 'live', startedAt: new Date().toISOString(), isUp: true, isToStart: false };
  const note = JSON.stringify({ ...kept, backend: 'fxserver', serverRoot: root });
  // The server ran on while the sidecar was replaced, so that its start was not seen.
  const keeper = new FakeKeeper({ isResumed: true, serverPid: process.pid, note });
  writeFileSync(join(root, 'server.cfg'), `endpoint_add_tcp "127.0.0.1:${await freePort()}"\nensure shop\n`);
  const rig = await InstallRig.start({ shop: resourceOf('1.0.0') }, { backend: 'fxserver' }, root, {
    keeper: keeper.link,
  });
  try {
    const put = (apply: 'now' | 'later') =>
      rig.ended(rig.put({ bundles: [{ name: 'shop', files: resourceOf('1.1.0') }], apply }));
    expect(await rig.states()).toEqual({ shop: 'unknown 1.0.0' });
    expect(await put('now')).toMatchObject({
      state: 'failed',
      error: 'bundles.unavailable',
      message: expect.stringMatching(/whether shop runs/),
    });
    expect(rig.read('shop/fxmanifest.lua')).toContain('1.0.0');
    expect((await put('later')).outcome.bundles).toMatchObject([{ state: 'unproven' }]);
  } finally {
    const exit = { code: 0, signal: null, failure: null };
    const news = [{ type: 'exit', exit, hasMembers: false } as const, { type: 'end', isLeftOver: false } as const];
    keeper.says({ type: 'news', news, isAgain: false, last: 2 });
    await rig.stop();
  }
});

describe('on a running program of any kind', () => {
  let rig: InstallRig;
  const partOf = (version: string, lines = ''): Files => ({
    'bundle.json': JSON.stringify({ version, server: 'server.js' }),
    'on-load.txt': `I am ${version}\n${lines}`,
  });

  beforeAll(async () => {
    rig = await InstallRig.start(
      { shop: partOf('1.0.0') },
      {
        ...{ backend: 'command', startLine: fakeLine(), stopLine: 'quit', bundles: ['shop'] },
        ...{ bundleStartLine: 'load {name}', bundleStopLine: 'drop {name}' },
      },
    );
    await rig.run();
  });
  afterAll(() => rig.stop());

  it('a version is kept if the program runs on', async () => {
    const { outcome } = await rig.ended(rig.put({ bundles: [{ name: 'shop', files: partOf('1.1.0') }] }));
    expect(outcome.bundles).toEqual([{ name: 'shop', from: '1.0.0', to: '1.1.0', state: 'kept', reason: '' }]);
    const { body } = await rig.owner.get<{ lines: { text: string }[] }>('/api/logs');
    const typed = body.lines.map(({ text }) => text);
    expect(typed).toEqual(expect.arrayContaining(['panel> drop shop', 'panel> load shop', 'did I am 1.1.0']));
  });

  it('one that ends the program goes back before it starts again', async () => {
    const { outcome } = await rig.ended(rig.put({ bundles: [{ name: 'shop', files: partOf('1.2.0', 'crash 7') }] }));
    expect(outcome.bundles).toMatchObject([{ state: 'rolledBack', reason: 'the server ended: exit code 7' }]);
    expect(rig.read('shop/bundle.json')).toContain('1.1.0');
    await rig.serverIs('running');
    expect(await rig.versionList('shop')).toEqual(['3 1.2.0 rolledBack', '2 1.1.0 kept *', '1 1.0.0 kept']);
  });

  it('a rollback puts the version before it back, and a second one undoes the first', async () => {
    for (const to of ['1.0.0', '1.1.0']) {
      const { outcome } = await rig.ended(await rig.rollback({ name: 'shop' }));
      expect(outcome.bundles).toMatchObject([{ to, state: 'kept' }]);
      expect(rig.read('shop/bundle.json')).toContain(to);
    }
  });

  it('without lines for bundles nothing can be put in place while it runs', async () => {
    await rig.owner.post('/api/server-config', { config: { bundleStopLine: '' } });
    const put = (apply: 'now' | 'later') =>
      rig.ended(rig.put({ bundles: [{ name: 'shop', files: partOf('2.0.0') }], apply }));
    expect(await put('now')).toMatchObject({ state: 'failed', error: 'bundles.unavailable' });
    expect(rig.read('shop/bundle.json')).toContain('1.1.0');
    expect((await put('later')).outcome.bundles).toMatchObject([{ state: 'unproven' }]);
  });
});
