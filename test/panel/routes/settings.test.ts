import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ServerConfigView } from '#panel/shapes/settings.ts';
import { testFolder } from '#support/test-folder.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

const CFG = 'endpoint_add_tcp "0.0.0.0:30120"\nsv_hostname "Town"\nensure town\n';
const LICENCE = 'cfxk_licence_key_of_the_owner';

let home: string;
let root: string;
let panel: TestPanel;
let owner: PanelClient;
/** settings.write alone. */
let editor: PanelClient;
/** settings.write and console.write. */
let operator: PanelClient;
let guest: PanelClient;

const cfg = () => join(root, 'server.cfg');
const readCfg = () => readFileSync(cfg(), 'utf8');
const values = () => panel.services.settings.values;
const config = async (client = owner) => (await client.get<ServerConfigView>('/api/server-config')).body;
const save = (body: unknown, client = owner) => client.post('/api/server-config', body);
const refused = (status: number, error: string, field?: string) => ({
  status,
  body: { ok: false, error, ...(field === undefined ? {} : { field }) },
});

beforeAll(async () => {
  home = testFolder();
  root = join(home, 'server');
  mkdirSync(root);
  panel = await startTestPanel({ settings: { backend: 'fxserver', serverRoot: root } });
  owner = await panel.owner();
  editor = await panel.account('editor', ['settings.write']);
  operator = await panel.account('operator', ['settings.write', 'console.write']);
  guest = await panel.account('guest', []);
});
afterAll(async () => {
  await panel.stop();
});
beforeEach(() => {
  rmSync(cfg(), { force: true });
  writeFileSync(cfg(), CFG, { mode: 0o640 });
});

describe('settings', () => {
  it.each([
    ['/api/settings', 200],
    ['/api/server-name', 200],
    ['/api/server-config', 403],
  ])('of a guest: %s is %i', async (path, status) => {
    expect((await guest.get(path)).status).toBe(status);
    expect((await panel.client().get(path)).status).toBe(401);
  });

  it.each([
    ['shutdownMode', 'polite'],
    ['autoStartServer', 'yes'],
    ['restartHungServer', 1],
    ['hangSeconds', 9],
    ['hangSeconds', 60.5],
    ['autoUpdateChecks', null],
    ['updateChannel', 'nightly'],
    ['dashboardName', ' '],
    ['dashboardName', 'a\u202Eb'],
    ['locale', '../de'],
    ['backend', 'command'],
    ['serverRoot', '/srv'],
    ['startLine', '/bin/sh'],
    ['volume', 11],
  ])('%s as %j is refused by its name, and nothing else of the request is done', async (name, value) => {
    const before = values();
    const answer = await owner.post('/api/settings', { shutdownMode: 'immediate', [name]: value });
    expect(answer).toMatchObject(refused(400, `settings.${name}`, name));
    expect(values()).toEqual(before);
  });

  it('a name that is no name is not repeated as a key', async () => {
    const answer = await owner.post('/api/settings', { 'a.b<script>': 1 });
    expect(answer).toMatchObject(refused(400, 'settings.unknown'));
  });

  it('what is typed to see whether a program answers needs console.write, and is one line', async () => {
    expect(await editor.post('/api/settings', { hangCommand: 'status' })).toMatchObject(
      refused(403, 'permission.missing'),
    );
    expect(await operator.post('/api/settings', { hangCommand: 'a\nb' })).toMatchObject(
      refused(400, 'settings.hangCommand', 'hangCommand'),
    );
    expect(values().hangCommand).toBe('');
    expect((await operator.post('/api/settings', { hangCommand: 'status' })).status).toBe(200);
    expect((await editor.post('/api/settings', { hangCommand: 'status', updateChannel: 'stable' })).status).toBe(200);
    expect(values()).toMatchObject({ hangCommand: 'status' });
    expect((await operator.post('/api/settings', { hangCommand: '' })).status).toBe(200);
  });

  it.each([{ hangSeconds: 10 }, { restartHungServer: true }])(
    'what restarts a server, %j, needs server.restart too, unless it stays as it is',
    async (changes) => {
      const before = values();
      expect(await editor.post('/api/settings', changes)).toMatchObject({
        status: 403,
        body: { error: 'permission.missing' },
      });
      expect(values()).toEqual(before);
      const { hangSeconds, restartHungServer } = before;
      expect((await editor.post('/api/settings', { hangSeconds, restartHungServer })).status).toBe(200);
    },
  );

  it('without settings.write only the own language can be changed', async () => {
    for (const body of [{ shutdownMode: 'immediate' }, { locale: 'fr', shutdownMode: 'immediate' }, { volume: 11 }]) {
      expect(await guest.post('/api/settings', body)).toMatchObject(refused(403, 'permission.missing'));
    }
    expect((await guest.post('/api/settings', { locale: 'fr' })).status).toBe(200);
    expect((await guest.get('/api/settings')).body).toMatchObject({
      settings: { locale: 'fr', shutdownMode: 'graceful' },
    });
    expect((await editor.get('/api/settings')).body).toMatchObject({ settings: { locale: 'en' } });
  });

  it('any subset is kept, over a restart too', async () => {
    const changes = { dashboardName: '  Los  Santos ', autoStartServer: false, hangSeconds: 90, updateChannel: 'beta' };
    expect((await owner.post('/api/settings', changes)).body).toEqual({ ok: true });
    expect((await editor.get('/api/settings')).body).toEqual({
      ok: true,
      settings: {
        ...{ dashboardName: 'Los  Santos', shutdownMode: 'graceful', autoStartServer: false, restartHungServer: false },
        ...{ hangSeconds: 90, hangCommand: '', autoUpdateChecks: false, updateChannel: 'beta', locale: 'en' },
        ...{ bundleTools: false, secondFactorFor: [] },
        ...{ warnMinutes: [30, 15, 10, 5, 3, 1], warnLine: 'say {text}', warnEvents: true },
      },
    });
    const kept = panel.services.store.prepare("SELECT value FROM settings WHERE name = 'hangSeconds'").get();
    expect(kept).toEqual({ value: '90' });
  });
});

describe('the name of the server', () => {
  it('is what server.cfg says, else that of the panel', async () => {
    expect((await guest.get('/api/server-name')).body).toEqual({ ok: true, name: 'Town' });
    writeFileSync(cfg(), 'ensure town\n');
    expect((await guest.get('/api/server-name')).body).toEqual({ ok: true, name: values().dashboardName });
  });
});

describe('the configuration of the server', () => {
  it.each([
    ['startLine', 'sh -c "never closed'],
    ['startLine', 'a\nb'],
    ['startLine', '   '],
    ['stopLine', 'quit\u001b[2J'],
    ['stopLine', 7],
    ['bundleStartLine', 'start it'],
    ['bundles', ['a', 'a']],
    ['bundles', ['a b']],
    ['bundles', 'a'],
    ['stopWaitSeconds', 601],
    ['killWaitSeconds', -1],
    ['killWaitSeconds', '10'],
    ['serverRoot', '/srv'],
    ['constructor', 'x'],
  ])('%s as %j is refused by its name, and nothing is saved', async (name, value) => {
    const before = values();
    const answer = await save({ config: { stopWaitSeconds: 1, [name]: value } });
    expect(answer).toMatchObject(refused(400, 'config.invalid', name));
    expect(values()).toEqual(before);
  });

  it.each([
    ['config', { config: [] }],
    ['file', { file: { text: 'x' } }],
    ['file', { file: { text: '\ud800', hash: 'x' } }],
  ])('a broken %s is refused: %j', async (field, body) => {
    expect(await save(body)).toMatchObject(refused(400, 'config.invalid', field));
  });

  it('nothing has been saved yet, so nothing is taken back', async () => {
    expect((await config()).undo).toBeNull();
    expect(await owner.post('/api/server-config/undo')).toMatchObject(refused(409, 'config.noUndo'));
  });

  it('who may not run programs changes neither the start line nor the file nor the folder', async () => {
    const { file } = await config(operator);
    const draft = { text: `${CFG}exec evil.cfg\n`, hash: file?.hash };
    const line = { config: { startLine: '/bin/sh' } };
    for (const body of [line, { file: draft }, { config: { stopWaitSeconds: 3 }, file: draft }]) {
      expect(await save(body, operator)).toMatchObject(refused(403, 'permission.missing'));
    }
    const moved = await operator.post('/api/server-path', { serverRoot: home });
    expect(moved).toMatchObject(refused(403, 'permission.missing'));
    expect(values()).toMatchObject({ startLine: '', serverRoot: root, stopWaitSeconds: 20 });
    expect(readCfg()).toBe(CFG);
  });

  it('who may not type commands changes no line that is typed', async () => {
    for (const name of ['stopLine', 'bundleStartLine', 'bundleStopLine', 'bundleRestartLine']) {
      const answer = await save({ config: { [name]: 'add_principal {name}' } }, editor);
      expect(answer).toMatchObject(refused(403, 'permission.missing'));
    }
    expect(values()).toMatchObject({ stopLine: '', bundleStartLine: '' });
    expect((await save({ config: { stopLine: 'quit' } }, operator)).status).toBe(200);
  });

  it('what is sent as it stands needs no more than settings.write', async () => {
    const { config: now, file } = await config(editor);
    expect((await save({ config: { ...now, killWaitSeconds: 7 }, file }, editor)).body).toEqual({ ok: true });
    expect(values()).toMatchObject({ killWaitSeconds: 7, startLine: '' });
  });

  it('the file is checked, and what stood there before is not judged', async () => {
    writeFileSync(cfg(), `set old "x\n${CFG}`);
    const hash = (await config()).file?.hash;
    const answer = await save({ file: { text: `set old "x\n${CFG}set a "b\n`, hash } });
    expect(answer).toMatchObject(refused(400, 'config.invalid', 'file'));
    expect(answer.body.detail).toBe('file: line 5: a quotation mark is not closed');
    expect(await save({ file: { text: 'x'.repeat(600_000), hash } })).toMatchObject(refused(400, 'config.invalid'));
    expect(readCfg()).toBe(`set old "x\n${CFG}`);
  });

  it('a file that somebody else has changed meanwhile is not overwritten, and nothing else is saved', async () => {
    const { file } = await config();
    writeFileSync(cfg(), `${CFG}# by another editor\n`);
    const body = { config: { stopWaitSeconds: 5 }, file: { text: `${CFG}ensure mine\n`, hash: file?.hash } };
    expect(await save(body)).toMatchObject(refused(409, 'config.conflict', 'file'));
    expect(readCfg()).toContain('by another editor');
    expect(values().stopWaitSeconds).toBe(20);
  });

  it('of two who save at once one is told of the other', async () => {
    const hash = (await config()).file?.hash;
    const saveLine = (line: string) => save({ file: { text: `${CFG}${line}\n`, hash } });
    const [first, second] = await Promise.all([saveLine('ensure one'), saveLine('ensure two')]);
    expect([first.status, second.status].sort()).toEqual([200, 409]);
    expect(readCfg()).toBe(`${CFG}ensure ${first.status === 200 ? 'one' : 'two'}\n`);
  });

  it('is saved with the rights of the file; one click takes all of it back, a second one brings it again', async () => {
    const text = `${CFG}sv_licenseKey ${LICENCE}\n`;
    const startLine = '"/srv/fx server/run.sh" +exec server.cfg';
    const hash = (await config()).file?.hash;
    expect((await save({ config: { startLine }, file: { text, hash } })).body).toEqual({ ok: true });
    expect(readCfg()).toBe(text);
    expect(statSync(cfg()).mode & 0o777).toBe(0o640);
    const after = await config();
    expect(after.undo).toEqual({ savedAt: expect.any(String), username: 'owner', fields: ['startLine', 'file'] });
    expect(after.config.startLine).toBe(startLine);

    expect(await operator.post('/api/server-config/undo')).toMatchObject(refused(403, 'permission.missing'));
    expect(readCfg()).toBe(text);
    expect((await owner.post('/api/server-config/undo')).status).toBe(200);
    expect([readCfg(), values().startLine]).toEqual([CFG, '']);
    expect((await owner.post('/api/server-config/undo')).status).toBe(200);
    expect([readCfg(), values().startLine]).toEqual([text, startLine]);
  });

  it('an undo does not overwrite what somebody has written since', async () => {
    const hash = (await config()).file?.hash;
    await save({ file: { text: `${CFG}ensure x\n`, hash } });
    writeFileSync(cfg(), `${CFG}ensure y\n`);
    expect(await owner.post('/api/server-config/undo')).toMatchObject(refused(409, 'config.conflict'));
    expect(readCfg()).toBe(`${CFG}ensure y\n`);
  });

  it.each([
    ['missing', () => rmSync(cfg())],
    ['large', () => writeFileSync(cfg(), 'x'.repeat(600_000))],
    ['encoding', () => writeFileSync(cfg(), Buffer.from('sv_hostname "Caf\xe9"\n', 'latin1'))],
    [
      'outside',
      () => {
        rmSync(cfg());
        writeFileSync(join(home, 'other.cfg'), CFG);
        symlinkSync(join(home, 'other.cfg'), cfg());
      },
    ],
  ])('a file that is %s is not edited, and that is told', async (problem, prepare) => {
    prepare();
    expect(await config()).toMatchObject({ file: null, fileProblem: problem });
    expect(await save({ file: { text: 'ensure x\n', hash: 'x' } })).toMatchObject(
      refused(409, 'config.conflict', 'file'),
    );
  });

  it('the audit log has the fields that changed, and neither it nor the log has their values', async () => {
    const { text } = await owner.get('/api/audit');
    const written = `${text}${panel.log.join('\n')}`;
    expect(written).toContain('startLine, file');
    expect(written).not.toContain(LICENCE);
    expect(written).not.toContain('/srv/fx server');
  });
});

describe('the folder of the server', () => {
  it.each([
    ['no folder', () => join(home, 'nothing')],
    ['a folder without server.cfg', () => home],
    ['a way up', () => `${root}/../server`],
    ['no text', () => null],
    ['a folder of the sidecar', () => join(panel.folder, 'data')],
  ])('is not %s', async (_name, path) => {
    const answer = await owner.post('/api/server-path', { serverRoot: path() });
    expect(answer).toMatchObject(refused(400, 'settings.serverRoot', 'serverRoot'));
    expect(values().serverRoot).toBe(root);
  });

  it('is another one from now on', async () => {
    const other = join(home, 'second');
    mkdirSync(other);
    writeFileSync(join(other, 'server.cfg'), 'sv_hostname "Second"\n');
    expect((await owner.post('/api/server-path', { serverRoot: other })).body).toEqual({ ok: true });
    expect((await guest.get('/api/server-name')).body).toMatchObject({ name: 'Second' });
  });
});
