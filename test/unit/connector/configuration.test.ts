import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type ConfigurationSource,
  completeConfiguration,
  readDatabaseConfig,
} from '#connector/config/configuration.ts';
import { parseDatabaseConfig } from '#connector/config/database-config.ts';
import { oracleSign } from '#support/lying-server.ts';
import { testFolder } from '#support/test-folder.ts';
import { external } from './scripted.ts';

const MINIMAL = { url: 'http://127.0.0.1:20771', keyId: 'local', namespaces: ['game'] };

const API = { url: 'http://127.0.0.1:20771', origin: 'http://127.0.0.1:20771', host: '127.0.0.1', socketPath: null };

function parse(changes: object) {
  return parseDatabaseConfig(JSON.stringify({ ...MINIMAL, ...changes }));
}

describe('database.json', () => {
  it('has defaults for what is left out', () => {
    expect(parseDatabaseConfig(JSON.stringify(MINIMAL))).toEqual({
      target: API,
      targets: [API],
      keyId: 'local',
      secretFile: null,
      namespaces: new Set(['game']),
      timeoutMs: 5000,
      maxConcurrent: 16,
      maxAnswerBytes: 16_777_216,
      allowedHosts: ['127.0.0.1'],
      slowCallMs: 200,
      transport: 'auto',
      worker: 'auto',
      caFile: null,
    });
  });

  it('takes a list of addresses, the nearest first, and allows by default those of this machine', () => {
    const url = ['unix:/run/sidecar', 'http://127.0.0.1:2', 'http://10.0.0.2:3', 'http://LOCALHOST:4'];
    const { target, targets, allowedHosts } = external(parse({ url }));
    expect(targets.map((one) => one.url)).toEqual([...url.slice(0, 3), 'http://localhost:4']);
    expect(target).toBe(targets[0]);
    expect(allowedHosts).toEqual(['127.0.0.1', 'localhost']);
  });

  it('ignores a list of addresses for an embedded sidecar, as it does a single one', () => {
    expect(parse({ url: ['http://a', 'http://b'], sidecar: { mode: 'embedded' } }).target).toBeNull();
  });

  it('takes a named pipe of Windows for a socket', () => {
    const url = 'unix:\\\\.\\pipe\\sidecar';
    const { target } = parseDatabaseConfig(JSON.stringify({ ...MINIMAL, url }));
    expect(target).toMatchObject({ url, socketPath: '\\\\.\\pipe\\sidecar' });
  });

  it.each([
    ['http://localhost:1', ['localhost']],
    ['http://LOCALHOST:1', ['localhost']],
    ['http://[::1]:1', ['::1']],
    ['http://127.9.9.9:1', ['127.9.9.9']],
    ['http://10.0.0.1:1', []],
    ['https://db.example.org', []],
    ['http://127.0.0.1.example.org', []],
  ])('allows the host of %s by default only if it is this machine', (url, hosts) => {
    expect(external(parse({ url })).allowedHosts).toEqual(hosts);
  });

  it.each([
    [{ url: undefined }, 'url: expected a text, got nothing'],
    [{ url: 7 }, 'url: expected a text, got 7'],
    [{ url: 'ftp://x' }, 'url: expected http://HOST:PORT, https://HOST:PORT or unix:/PATH, got another text'],
    [{ url: 'nonsense' }, 'url: expected http://HOST:PORT, https://HOST:PORT or unix:/PATH, got another text'],
    [{ url: 'http://user:hunter2@127.0.0.1' }, 'url: expected no user information, got some'],
    [{ url: 'http://127.0.0.1/api' }, 'url: expected nothing after the port, got a path or a query'],
    [{ url: 'http://127.0.0.1/?a' }, 'url: expected nothing after the port, got a path or a query'],
    [{ url: 'unix:relative' }, 'url: expected an absolute path after unix:, got another text'],
    [{ url: [] }, 'url: expected an address, or a list of 1 to 8 addresses, got an empty list'],
    [
      { url: Array.from({ length: 9 }, (_, n) => `http://127.0.0.${n + 1}`) },
      'url: expected an address, or a list of 1 to 8 addresses, got a list',
    ],
    [{ url: ['http://127.0.0.1:1', 7] }, 'url[1]: expected a text, got 7'],
    [
      { url: ['http://127.0.0.1:1', 'ftp://x'] },
      'url[1]: expected http://HOST:PORT, https://HOST:PORT or unix:/PATH, got another text',
    ],
    [{ url: ['http://a:hunter2@127.0.0.1'] }, 'url[0]: expected no user information, got some'],
    [
      { url: ['http://127.0.0.1:80', 'http://10.0.0.1', 'http://127.0.0.1'] },
      'url[2]: expected another address than url[0], got the same',
    ],
    [{ keyId: '' }, 'keyId: expected a text, got an empty text'],
    [{ keyId: 'a b' }, 'keyId: expected 1 to 64 letters, digits, dots, hyphens or underscores, got another text'],
    [{ namespaces: undefined }, 'namespaces: expected a list of at least one namespace name, got nothing'],
    [{ namespaces: [] }, 'namespaces: expected a list of at least one namespace name, got an empty list'],
    [{ namespaces: 'game' }, 'namespaces: expected a list of namespace names, got another text'],
    [{ namespaces: ['game', 'A'] }, 'namespaces[1]: expected a namespace name, got another text'],
    [{ timeoutMs: 99 }, 'timeoutMs: expected an integer from 100 to 120000, got 99'],
    [{ timeoutMs: 120_001 }, 'timeoutMs: expected an integer from 100 to 120000, got 120001'],
    [{ timeoutMs: 100.5 }, 'timeoutMs: expected an integer from 100 to 120000, got 100.5'],
    [{ timeoutMs: '5000' }, 'timeoutMs: expected an integer from 100 to 120000, got another text'],
    [{ timeoutMs: null }, 'timeoutMs: expected an integer from 100 to 120000, got null'],
    [{ maxConcurrent: 0 }, 'maxConcurrent: expected an integer from 1 to 256, got 0'],
    [{ maxConcurrent: 257 }, 'maxConcurrent: expected an integer from 1 to 256, got 257'],
    [{ maxAnswerBytes: 0 }, expect.stringMatching(/^maxAnswerBytes: expected an integer from /)],
    [{ transport: 'websocket' }, 'transport: expected "auto", "stream" or "post", got another text'],
    [{ worker: 'on' }, 'worker: expected "auto" or "off", got another text'],
    [{ slowCallMs: -1 }, expect.stringMatching(/^slowCallMs: expected an integer from /)],
    [{ allowedHosts: ['127.0.0.1:20771'] }, 'allowedHosts[0]: expected a host name without port, got another text'],
    [{ allowedHosts: ['http://a'] }, 'allowedHosts[0]: expected a host name without port, got another text'],
    [{ secretFile: 1 }, 'secretFile: expected a text, got 1'],
    [{ caFile: {} }, 'caFile: expected a text, got an object'],
    [{ sidecar: 'external' }, 'sidecar: expected an object, got another text'],
    [{ sidecar: { mode: 'x' } }, 'sidecar.mode: expected "external" or "embedded", got another text'],
    [{ sidecar: { mode: 'embedded', port: 1 } }, 'sidecar.port: unknown setting'],
    [{ sidecar: { mode: 'embedded', node: '' } }, 'sidecar.node: expected a text, got an empty text'],
    [
      { sidecar: { mode: 'embedded' }, namespaces: ['A'] },
      'namespaces[0]: expected a namespace name, got another text',
    ],
    [{ namespaces: ['*'] }, 'namespaces[0]: expected a namespace name, got another text'],
    [{ sidecar: { node: 'x' } }, 'sidecar.node: unknown setting. Did you mean sidecar.mode?'],
    [{ secret: 'hunter2' }, 'secret: unknown setting'],
    [{ maxConcurent: 4 }, 'maxConcurent: unknown setting. Did you mean maxConcurrent?'],
  ])('%j is refused', (changes, message) => {
    const error = caught(() => parse(changes));
    expect(error).toMatchObject({ name: 'ConfigError', message });
    expect(error.message).not.toContain('hunter2');
  });

  it.each([
    ['{', /^database\.json: line 1, column 2: not valid JSON \(the end is missing: a } or a ]\?\)$/],
    ['{"url": "a",\n "url": "b"}', /^database\.json: line 2, column 2: a property that is already there$/],
    ['[]', /^database\.json does not hold a JSON object$/],
    ['', /^database\.json: line 1, column 1: not valid JSON/],
  ])('%j is refused', (text, message) => {
    expect(caught(() => parseDatabaseConfig(text)).message).toMatch(message);
  });
});

describe('of a sidecar that the connector runs itself', () => {
  const embedded = (changes: object, overrides: Record<string, string> = {}) =>
    parseDatabaseConfig(JSON.stringify({ sidecar: { mode: 'embedded' }, ...changes }), overrides);

  it('needs nothing else, and allows every namespace', () => {
    expect(embedded({})).toEqual({
      target: null,
      node: 'node',
      folder: null,
      keyId: 'local',
      namespaces: new Set(['*']),
      timeoutMs: 5000,
      maxConcurrent: 16,
      maxAnswerBytes: 16_777_216,
      slowCallMs: 200,
      transport: 'auto',
      worker: 'auto',
    });
  });

  it('may keep what belongs to an address, so that changing the mode is one line', () => {
    expect(embedded({ ...MINIMAL, secretFile: 'secrets/x', allowedHosts: ['a'], caFile: 'ca.pem' })).toMatchObject({
      target: null,
      namespaces: new Set(['game']),
    });
  });

  it('takes a host’s own values for single fields of the section', () => {
    expect(embedded({}, { 'sidecar.folder': '/srv/data', 'sidecar.node': '/opt/node' })).toMatchObject({
      folder: '/srv/data',
      node: '/opt/node',
    });
    expect(external(parseDatabaseConfig(JSON.stringify(MINIMAL), { 'sidecar.mode': 'external' })).keyId).toBe('local');
  });

  it.each([
    [true, [], null],
    [false, [], /it does not exist$/],
    [true, [{ field: 'url', name: 'convar', value: 'http://127.0.0.1:1' }], /it does not exist$/],
  ])(
    'is what no file at all means, where the sidecar is there (%s) and no address is given (%j)',
    (isThere, overrides, error) => {
      const source = {
        file: '/nowhere/database.json',
        storedSecret: () => undefined,
        hasSidecar: () => isThere,
        overrides: () => overrides,
      };
      if (error === null) expect(readDatabaseConfig(source).target).toBeNull();
      else expect(() => readDatabaseConfig(source)).toThrow(error);
    },
  );
});

describe('the secret', () => {
  const folder = testFolder();
  const file = join(folder, 'database.json');
  const [stored, fromEnvironment, fromFile] = ['s'.repeat(40), 'e'.repeat(40), 'f'.repeat(40)];
  mkdirSync(join(folder, 'secrets'));
  writeFileSync(join(folder, 'secrets', 'local.secret'), `  ${fromFile}\n`);

  afterEach(() => {
    vi.unstubAllEnvs();
  });

  function load(changes: object, storedSecret?: string) {
    writeFileSync(file, `\uFEFF${JSON.stringify({ ...MINIMAL, ...changes })}`);
    return complete({ file, storedSecret: () => storedSecret, hasSidecar: () => false }).key.sign('v1');
  }

  function complete(source: ConfigurationSource) {
    return completeConfiguration(source, external(readDatabaseConfig(source)));
  }

  it('comes from the host, else the environment, else the file, without white space around it', () => {
    vi.stubEnv('DB_CONNECTOR_SECRET', fromEnvironment);
    const secretFile = 'secrets/local.secret';
    expect(load({ secretFile }, stored)).toBe(oracleSign(stored, ['v1']));
    expect(load({ secretFile })).toBe(oracleSign(fromEnvironment, ['v1']));
    vi.stubEnv('DB_CONNECTOR_SECRET', undefined);
    expect(load({ secretFile })).toBe(oracleSign(fromFile, ['v1']));
  });

  it('that is missing or too short names where it should be', () => {
    vi.stubEnv('DB_CONNECTOR_SECRET', undefined);
    expect(caught(() => load({})).message).toMatch(/^secretFile: expected a path, or .*DB_CONNECTOR_SECRET/);
    expect(caught(() => load({ secretFile: 'nowhere' })).message).toMatch(
      /^secretFile: expected a readable file at .*nowhere/,
    );
    vi.stubEnv('DB_CONNECTOR_SECRET', 'too short');
    const { message } = caught(() => load({}));
    expect(message).toBe('DB_CONNECTOR_SECRET: expected a secret of at least 32 bytes, got a shorter one');
  });

  it('is counted in bytes and used as it is written', () => {
    const secret = 'ü'.repeat(16);
    vi.stubEnv('DB_CONNECTOR_SECRET', secret);
    expect(load({})).toBe(oracleSign(secret, ['v1']));
  });

  it('or file that cannot be read is a reason, not a stack', () => {
    const missing = join(folder, 'nothing', 'database.json');
    const { message } = caught(() => complete({ file: missing, storedSecret: () => stored, hasSidecar: () => false }));
    expect(message).toBe(`${missing}: it does not exist`);
    expect(caught(() => load({ caFile: 'ca.pem' }, stored)).message).toMatch(/^caFile: expected a readable file/);
  });
});

function caught(run: () => unknown): Error {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}
