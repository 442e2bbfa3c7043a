import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { SIDECAR_MAIN } from '#support/sidecar-program.ts';
import { secretOf, writeConfig } from '../support/config-folder.ts';
import { spawnSidecar } from '../support/sidecar-process.ts';
import { SignedClient } from '../support/signed-client.ts';
import { testFolder } from '../support/test-folder.ts';

let folder: string;
beforeEach(() => {
  folder = testFolder();
});

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A run that is expected to end by itself. */
async function run(args: string[], environment: Record<string, string> = {}): Promise<Ended> {
  const env = { ...process.env, NODE_NO_WARNINGS: '1', ...environment };
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [SIDECAR_MAIN, ...args], { env });
    return { code: 0, stdout, stderr };
  } catch (error) {
    return error as Ended;
  }
}

describe('a configuration that cannot be used ends with code 1 and one line', () => {
  const check = async (config: Record<string, unknown>, environment: Record<string, string>, line: RegExp) => {
    const file = writeConfig(folder, config);
    for (const args of [
      ['--config', file],
      ['--config', file, '--check'],
    ]) {
      const { code, stdout, stderr } = await run(args, environment);
      expect(stderr).toMatch(line);
      expect({ code, stdout, lines: stderr.trim().split('\n').length }).toEqual({ code: 1, stdout: '', lines: 1 });
    }
    expect(existsSync(join(folder, 'data'))).toBe(false);
  };

  it('a wrong value', () =>
    check({ api: { port: 70_000 } }, {}, /^sidecar: \/.*\/sidecar\.json: api\.port: expected .*, got 70000$/m));
  it('from the environment', () =>
    check({}, { SIDECAR_LIMITS_MAX_ROWS: 'many' }, /limits\.maxRows: expected .*, got "many"/));
  it('a short secret, which is not shown', () =>
    check(
      {},
      { SIDECAR_KEYS_0_SECRET: 'hunter2' },
      /^(?!.*hunter2).*keys\[0\]\.secret: expected a secret of at least 32 bytes, got 7 bytes/,
    ));
});

it.each([
  [
    'a certificate',
    { api: { tls: { certFile: 'no.pem', keyFile: 'no.key' } } },
    /^sidecar: FILE: api\.tls\.certFile: the file .*no\.pem does not exist: put it there, or name the right one$/m,
  ],
  [
    'an authority',
    { panel: { enabled: true, port: 0, caFile: 'sidecar.json' } },
    /^sidecar: FILE: panel\.caFile: expected a certificate \(-----BEGIN CERTIFICATE-----\), got another content in /m,
  ],
  [
    'a key of S3',
    { backup: { remote: { type: 's3', bucket: 'backups', accessKeyFile: 'no.key', secretKeyEnv: 'UNSET' } } },
    /^sidecar: FILE: backup\.remote\.accessKeyFile: the file .*no\.key does not exist: put it there/m,
  ],
  [
    'an identity',
    { backup: { identityFile: 'sidecar.json' } },
    /^sidecar: FILE: backup\.identityFile: expected identities of age \(AGE-SECRET-KEY-…\), got another line in /m,
  ],
  [
    'a recipient',
    { backup: { encryptTo: ['age1mistypedmistypedmistyped'] } },
    /^sidecar: FILE: backup\.encryptTo\[0\]: expected the public key of an age identity; is it mistyped\?$/m,
  ],
])('--check looks at %s as well, and names the file, the field and what to do', async (_what, config, line) => {
  const file = writeConfig(folder, config);
  const { code, stderr } = await run(['--config', file, '--check']);
  expect(stderr.replace(`${file}: `, 'FILE: ')).toMatch(line);
  expect(code).toBe(1);
});

it('an argument that nobody knows is such a line too, and --help tells', async () => {
  expect(await run(['--chekc'])).toMatchObject({ code: 2, stdout: '' });
  expect((await run(['destroy'])).stderr).toContain('unknown command destroy');
  expect(await run(['--help'])).toMatchObject({ code: 0, stdout: expect.stringContaining('--config FILE') });
});

it('--check of a good file says so and makes nothing', async () => {
  const file = writeConfig(folder, {
    keys: [{ kid: 'local', secretFile: 'later.secret', operations: ['*'], namespaces: ['*'] }],
  });
  expect(await run(['--config', file, '--check'])).toMatchObject({ code: 0, stderr: '' });
  expect(readdirSync(folder)).toEqual(['sidecar.json']);
});

it.each([
  ['api', '; stop it, or change api.port here and url in database.json'],
  ['panel', '; stop it, or change panel.port'],
])('--check tries the port of %s', async (section, remedy) => {
  const other = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as { port: number };
  const file = writeConfig(folder, { panel: { enabled: section === 'panel' } });
  const environment = { [`SIDECAR_${section.toUpperCase()}_PORT`]: `${port}` };
  const { code, stderr } = await run(['--config', file, '--check'], environment);
  other.close();
  const line = `sidecar: ${file}: another program listens on 127.0.0.1:${port}${remedy}\n`;
  expect({ code, stderr }).toEqual({ code: 1, stderr: line });
});

it('--check names an address that this machine does not have', async () => {
  const file = writeConfig(folder, { panel: { enabled: false } });
  const environment = { SIDECAR_API_HOST: '192.0.2.1', SIDECAR_API_PORT: '4000', SIDECAR_API_ALLOW_PLAIN_HTTP: 'true' };
  const { code, stderr } = await run(['--config', file, '--check'], environment);
  const line = `sidecar: ${file}: 192.0.2.1:4000 cannot be listened on: EADDRNOTAVAIL; change api.host or api.port\n`;
  expect({ code, stderr }).toEqual({ code: 1, stderr: line });
});

it('a port that is taken is one clear line', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as { port: number };
  const file = writeConfig(folder, { api: { port } });
  const { code, stderr } = await run(['--config', file]);
  expect(code).toBe(1);
  expect(stderr).toBe(`sidecar: port ${port} is in use; change api.port in ${file} and url in database.json\n`);
  await new Promise((resolve) => other.close(resolve));
});

/** The different ones among all threads with the name. */
function nicenessOf(pid: number, thread: string): Set<number> {
  const tasks = `/proc/${pid}/task`;
  const ids = readdirSync(tasks).filter((id) => readFileSync(join(tasks, id, 'comm'), 'utf8').trim() === thread);
  return new Set(ids.map((id) => getPriority(Number(id))));
}

describe('a first start', () => {
  it('makes everything that a box needs, and a second one changes none of it', async () => {
    const home = join(folder, 'vfs');
    const file = join(home, 'sidecar.json');
    const start = () => spawnSidecar(folder, {}, { SIDECAR_API_PORT: '0' }, file);
    const first = await start();
    const secret = readFileSync(join(home, 'secrets', 'local.secret'), 'utf8').trim();
    expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
    const connector = JSON.parse(readFileSync(join(home, 'database.json'), 'utf8')) as Record<string, unknown>;
    expect(connector).toMatchObject({
      keyId: 'local',
      secretFile: 'secrets/local.secret',
      namespaces: ['game', 'stats'],
    });
    const modes = ['secrets', 'data', 'logs', 'secrets/local.secret'].map(
      (name) => statSync(join(home, name)).mode & 0o777,
    );
    expect(modes).toEqual([0o700, 0o700, 0o700, 0o600]);
    const client = new SignedClient({ address: first.address, secret });
    const writeBuffer = { enabled: true, pending: 0, halted: false, deadLetters: 0, available: true };
    expect(await client.must('health')).toMatchObject({ status: 'ok', database: true, writeBuffer });
    const statistics = { namespace: 'stats', table: 'kills', rows: [{ id: 1 }] };
    const columns = [{ name: 'id', type: 'int32' }];
    await client.must('schema.sync', { namespace: 'stats', schema: { tables: [{ name: 'kills', columns }] } });
    expect(await client.must('insert', statistics)).toMatchObject({ queued: true, pending: 1 });
    expect(await client.must('count', { namespace: 'stats', table: 'kills' })).toEqual({ count: 1 });
    await client.close();
    expect(statSync(join(home, 'data/journal')).mode & 0o777).toBe(0o700);
    expect(JSON.stringify(first.log)).not.toContain(secret);
    if (process.platform === 'linux') expect(nicenessOf(first.pid, 'V8Worker')).toEqual(new Set([10]));
    expect(await first.kill('SIGTERM')).toBe(0);

    const names = ['sidecar.json', 'database.json', 'secrets/local.secret'];
    const before = names.map((name) => readFileSync(join(home, name), 'utf8'));
    const second = await start();
    expect(await second.kill('SIGINT')).toBe(0);
    expect(names.map((name) => readFileSync(join(home, name), 'utf8'))).toEqual(before);
  });

  it('overwrites nothing that is there', async () => {
    const home = join(folder, 'vfs');
    writeConfig(home);
    rmSync(join(home, 'sidecar.json'));
    writeFileSync(join(home, 'database.json'), 'mine');
    const started = await spawnSidecar(folder, {}, { SIDECAR_API_PORT: '0' }, join(home, 'sidecar.json'));
    expect(await started.kill('SIGTERM')).toBe(0);
    expect(readFileSync(join(home, 'database.json'), 'utf8')).toBe('mine');
  });

  it('a secretFile that is missing is made', async () => {
    const keys = [{ kid: 'local', secretFile: 'own/key.secret', operations: ['*'], namespaces: ['*'] }];
    const started = await spawnSidecar(folder, { keys });
    const secret = readFileSync(join(folder, 'own', 'key.secret'), 'utf8').trim();
    const client = new SignedClient({ address: started.address, secret });
    expect((await client.call('health')).isVerified).toBe(true);
    await client.close();
    expect(await started.kill('SIGTERM')).toBe(0);
  });
});

describe('the end', () => {
  it('after kill -9 within the same second an envelope is refused, also one ahead by the skew', async () => {
    const first = await spawnSidecar(folder);
    const seconds = first.client.seconds();
    const envelopes = [seconds, seconds + 55].map((ts) => first.client.envelope('/v1/health', {}, { ts }));
    for (const envelope of envelopes) expect((await first.client.send('/v1/health', envelope)).httpStatus).toBe(200);
    await first.kill('SIGKILL');
    const second = await spawnSidecar(folder);
    for (const envelope of envelopes) expect((await second.client.send('/v1/health', envelope)).httpStatus).toBe(401);
    expect((await second.client.call('health')).isVerified).toBe(true);
    expect(await second.kill('SIGTERM')).toBe(0);
  });

  it('SIGTERM lets what runs finish, and an idle connection does not hold it up', async () => {
    const started = await spawnSidecar(folder);
    const schema = { tables: [{ name: 'things', columns: [{ name: 'id', type: 'int32' }], primaryKey: ['id'] }] };
    await started.client.must('schema.sync', { namespace: 'game', schema });
    const rows = Array.from({ length: 1000 }, (_, id) => ({ id }));
    const running = started.client.call('insert', { namespace: 'game', table: 'things', rows });
    await expect.poll(() => started.log.length).toBeGreaterThan(0);
    const startedMs = performance.now();
    started.child.kill('SIGTERM');
    const ended = await running.catch(() => null);
    const code = await new Promise((resolve) => started.child.once('exit', resolve));
    expect(code).toBe(0);
    expect(performance.now() - startedMs).toBeLessThan(7000);
    expect(started.log.at(-1)).toMatchObject({ msg: 'stopped' });
    await started.client.close();
    const next = await spawnSidecar(folder);
    const { count } = await next.client.must<{ count: number }>('count', { namespace: 'game', table: 'things' });
    expect(count).toBe(ended === null ? count : 1000);
    expect([0, 1000]).toContain(count);
    await next.kill('SIGTERM');
  });

  it('the environment overrides single values, and a wrong secret never shows', async () => {
    const secret = secretOf('from-the-environment');
    const started = await spawnSidecar(folder, {}, { SIDECAR_KEYS_0_SECRET: secret, SIDECAR_API_METRICS: 'none' });
    const client = new SignedClient({ address: started.address, secret });
    expect((await client.call('health')).isVerified).toBe(true);
    expect((await client.get('/metrics')).status).toBe(404);
    expect((await started.client.call('health')).httpStatus).toBe(401);
    await client.close();
    await started.kill('SIGTERM');
    expect(JSON.stringify(started.log)).not.toContain('secret-of');
  });
});
