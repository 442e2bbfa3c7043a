import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { openEngine } from '#engine/open.ts';
import { claimStore } from '#panel/store/panel-store.ts';
import { BackupLease } from '#sidecar/backup/backup-lease.ts';
import { runBackup } from '#sidecar/commands/backup.ts';
import { runDoctor } from '#sidecar/commands/doctor.ts';
import { runInit } from '#sidecar/commands/init.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import { copyIo } from '../support/copy-io.ts';
import { secretOf, startSidecar, writeConfig } from '../support/sidecar.ts';
import { testFolder } from '../support/test-folder.ts';

let folder: string;
beforeEach(() => {
  folder = testFolder();
});

interface Found {
  readonly verdict: string;
  readonly what: string;
  readonly found: string;
  readonly advice?: string;
}

async function doctor(file: string, environment: Record<string, string> = {}) {
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  const io = { print, printError: print, isForPeople: false };
  const isWell = await runDoctor(['--config', file, '--json'], { environment }, io);
  const all = lines.map((line) => JSON.parse(line) as Found);
  return { isWell, all, of: (what: string) => all.filter((one) => one.what === what), text: lines.join('\n') };
}

const HOUR_MS = 3_600_000;

function makeOlder(backup: string, hours: number): void {
  const manifest = join(backup, 'manifest.json');
  const time = new Date(Date.now() - hours * HOUR_MS).toISOString();
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(/"time": "[^"]*"/, `"time": "${time}"`));
}

it('a box that was just made has nothing to fix', async () => {
  const file = join(folder, 'vfs/sidecar.json');
  await runInit(['--config', file], { environment: {} }, { print: () => undefined });
  const { all, isWell } = await doctor(file, {
    SIDECAR_API_PORT: '0',
    SIDECAR_PANEL_PORT: '0',
    SIDECAR_BACKUP_AT: '04:30',
  });
  expect({ isWell, verdicts: all.filter(({ verdict }) => verdict === 'fail') }).toEqual({ isWell: true, verdicts: [] });
  expect(new Set(all.map(({ what }) => what))).toEqual(
    new Set([
      'Node.js',
      'configuration',
      'files',
      'disk',
      'address',
      'off machine',
      'panel',
      'database',
      'journal',
      'backup',
    ]),
  );
});

it('knows a sidecar that runs, and looks at its database, journal and backups', async () => {
  const backup = { everyHours: 1 };
  const sidecar = await startSidecar({ folder, config: { writeBehind: { namespaces: { stats: {} } }, backup } });
  const port = new URL(sidecar.address).port;
  const made = copyIo();
  await runBackup(['--config', sidecar.configFile, '--json'], made.io);
  const seen = await doctor(sidecar.configFile, { SIDECAR_API_PORT: port });
  expect(seen.isWell).toBe(true);
  expect(seen.of('address')).toEqual([
    { verdict: 'ok', what: 'address', found: `a sidecar answers at 127.0.0.1:${port}` },
  ]);
  expect(seen.of('database')[0]?.found).toMatch(/database\.sqlite answers \(SQLite 3\.\d+/);
  expect(seen.of('journal')[0]?.found).toMatch(/is journal [a-z2-7]{10}, in use by a sidecar$/);
  expect(seen.of('backup')[0]).toMatchObject({ verdict: 'ok', found: expect.stringMatching(/ is 0 h old$/) });
  expect(seen.text).not.toContain(secretOf('local'));

  makeOlder((JSON.parse(made.lines.join('')) as { path: string }).path, 5);
  const late = await doctor(sidecar.configFile, { SIDECAR_API_PORT: port });
  expect(late.isWell).toBe(false);
  expect(late.of('backup')).toMatchObject([{ verdict: 'fail', found: expect.stringMatching(/ is 5 h old$/) }]);
  expect(late.of('off machine')).toMatchObject([{ verdict: 'warn', found: 'no place off this machine' }]);
  await sidecar.stop();
});

it('asks the database which box made the last backup', async () => {
  const file = writeConfig(folder, { backup: { everyHours: 1 } });
  const engine = await openEngine(loadConfig(file, {}).database, { log: () => {}, now: Date.now });
  const clock = vi.spyOn(Date, 'now');
  /** Another box makes a backup. */
  const madeBefore = async (hours: number): Promise<string> => {
    const time = Date.now() - hours * HOUR_MS;
    clock.mockReturnValueOnce(time);
    await new BackupLease(engine).alone(async () => ({}));
    return `the last backup was made by ${hostname()} at ${new Date(time).toISOString()}`;
  };
  const found = async () => (await doctor(file)).of('backup')[0];
  const none = `none in ${folder}/backups yet`;
  expect(await found()).toMatchObject({ verdict: 'warn', found: none });
  const recent = await madeBefore(1);
  expect(await found()).toEqual({ verdict: 'ok', what: 'backup', found: `${recent}; ${none}` });
  const old = await madeBefore(5);
  expect(await found()).toMatchObject({ verdict: 'fail', found: `${old}; ${none}` });

  const made = copyIo();
  await runBackup(['--config', file, '--json'], made.io);
  const { path } = JSON.parse(made.lines.join('')) as { path: string };
  expect(await found()).toEqual({ verdict: 'ok', what: 'backup', found: `${path} is 0 h old` });
  makeOlder(path, 9);
  expect(await found()).toMatchObject({ verdict: 'fail', found: `${old}; ${path} is 9 h old` });
  const again = await madeBefore(0);
  expect(await found()).toEqual({ verdict: 'ok', what: 'backup', found: `${again}; ${path} is 9 h old` });
  const tooEarly = await madeBefore(-48);
  expect(await found()).toMatchObject({ verdict: 'fail', found: `${tooEarly}; ${path} is 9 h old` });
  await engine.close();
});

describe('says what to fix', () => {
  const lineOf = async (file: string, verdict: string, what: string): Promise<Found | undefined> => {
    const { all, isWell } = await doctor(file);
    expect(isWell).toBe(verdict !== 'fail');
    return all.find((one) => one.verdict === verdict && one.what === what);
  };

  it('no configuration, and one that cannot be used', async () => {
    const file = join(folder, 'sidecar.json');
    expect(await lineOf(file, 'fail', 'configuration')).toMatchObject({
      found: expect.stringContaining('there is no'),
    });
    writeConfig(folder, { api: { port: 70_000 } });
    expect(await lineOf(file, 'fail', 'configuration')).toMatchObject({
      found: expect.stringContaining(`${file}: api.port: expected`),
    });
  });

  it('a secret that others can read', async () => {
    mkdirSync(join(folder, 'secrets'));
    const secret = join(folder, 'secrets/a.secret');
    writeFileSync(secret, secretOf('a'));
    chmodSync(secret, 0o640);
    const keys = [{ kid: 'a', secretFile: 'secrets/a.secret', operations: ['*'], namespaces: ['*'] }];
    const found = await lineOf(writeConfig(folder, { keys }), 'warn', 'secrets');
    expect(found).toMatchObject({ found: expect.stringContaining('mode 0640'), advice: `chmod 600 ${secret}` });
  });

  it('a key of TLS, or of S3, that others can read', async () => {
    const keys = ['tls.key', 's3.key'].map((name) => join(folder, name));
    for (const key of keys) writeFileSync(key, 'x', { mode: 0o644 });
    const file = writeConfig(folder, {
      api: { tls: { certFile: 'cert.pem', keyFile: 'tls.key' } },
      backup: { remote: { type: 's3', bucket: 'backups', accessKeyEnv: 'UNSET', secretKeyFile: 's3.key' } },
    });
    const { of } = await doctor(file);
    expect(of('secrets').map(({ advice }) => advice)).toEqual(keys.map((key) => `chmod 600 ${key}`));
  });

  it('an address that another program has', async () => {
    const other = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    const found = await lineOf(writeConfig(folder, { api: { port } }), 'fail', 'address');
    expect(found?.found).toBe(`another program listens on 127.0.0.1:${port}`);
    await new Promise((resolve) => other.close(resolve));
  });

  it("the panel's port, its accounts that others can read, and a setup that nobody has done", async () => {
    const other = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    const file = writeConfig(folder, { panel: { enabled: true, port, data: 'panel.sqlite' } });
    const accounts = join(folder, 'panel.sqlite');
    writeFileSync(accounts, '');
    chmodSync(accounts, 0o644);
    mkdirSync(join(folder, 'secrets'));
    writeFileSync(join(folder, 'secrets/panel-setup.key'), 'the-key', { mode: 0o600 });
    const { of, text } = await doctor(file);
    expect(of('panel')).toMatchObject([
      {
        verdict: 'fail',
        found: `another program listens on 127.0.0.1:${port}`,
        advice: 'stop it, or change panel.port',
      },
      { verdict: 'warn', found: 'nobody has set it up yet' },
    ]);
    expect(of('secrets')).toMatchObject([{ verdict: 'warn', advice: `chmod 600 ${accounts}` }]);
    expect(text).not.toContain('the-key');
    await new Promise((resolve) => other.close(resolve));
  });

  it('the port of a panel that another program has, whatever it answers: that of another sidecar too', async () => {
    const answers = ['{"ok":true}', '{"ok":true,"setup":true,"dashboardName":"x","locale":"en","version":"1.0.0"}'];
    const other = createHttpServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(answers[0]);
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    const file = writeConfig(folder, { panel: { enabled: true, port, data: 'panel.sqlite' } });
    const found = async () => (await doctor(file)).of('panel')[0];
    const advice = 'stop it, or change panel.port';
    const program = `another program listens on 127.0.0.1:${port}`;
    expect(await found()).toMatchObject({ verdict: 'fail', found: program, advice });
    answers.shift();
    const panel = `the panel of another sidecar answers at 127.0.0.1:${port}`;
    expect(await found()).toMatchObject({ verdict: 'fail', found: panel, advice });
    const claimed = await claimStore(join(folder, 'panel.sqlite'));
    expect(await found()).toMatchObject({ verdict: 'ok', found: `a panel answers at 127.0.0.1:${port}` });
    claimed.release();
    expect(await found()).toMatchObject({ verdict: 'fail', found: panel });
    await new Promise((resolve) => other.close(resolve));
  });

  it('a database that does not answer, without its password', async () => {
    const url = 'postgres://someone:hunter2@127.0.0.1:1/game';
    const file = writeConfig(folder, { database: { provider: 'postgres', url, file: undefined } });
    const { isWell, of, text } = await doctor(file);
    expect(isWell).toBe(false);
    expect(of('database')).toMatchObject([{ verdict: 'fail', found: expect.stringContaining('127.0.0.1:1/game') }]);
    expect(text).not.toContain('hunter2');
  });
});
