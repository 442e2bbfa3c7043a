import { createHmac } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadConfig, type SidecarConfig } from '#sidecar/config/load-config.ts';
import { keyOf, secretOf } from '#support/config-folder.ts';
import { testFolder } from '#support/test-folder.ts';

let folder: string;
beforeEach(() => {
  folder = testFolder();
});

const SMALL = { keys: [keyOf('local')] };

function load(config: unknown, environment: NodeJS.ProcessEnv = {}): SidecarConfig {
  const file = join(folder, 'sidecar.json');
  writeFileSync(file, typeof config === 'string' || Buffer.isBuffer(config) ? config : JSON.stringify(config), {
    mode: 0o600,
  });
  return loadConfig(file, environment);
}

/** The message of the refusal; fails where there is none. */
function refusal(config: unknown, environment: NodeJS.ProcessEnv = {}): string {
  try {
    load(config, environment);
  } catch (error) {
    expect((error as Error).name).toBe('ConfigError');
    const { message } = error as Error;
    expect(message).not.toContain('\n');
    // An owner may have several.
    const file = join(folder, 'sidecar.json');
    expect(message).toContain(file);
    return message.startsWith(`${file}: `) ? message.slice(file.length + 2) : message;
  }
  throw new Error('the configuration was taken');
}

describe('defaults', () => {
  it('are those of the contract, and the rest is the file', () => {
    const { api, database, limits, schema } = load(SMALL);
    expect(api).toEqual({
      host: '127.0.0.1',
      port: 20771,
      socketPath: null,
      tls: null,
      requireHttps: 'non-loopback',
      trustedProxies: [],
      maxStreams: 64,
      maxSkewSeconds: 60,
      requestTimeoutMs: 4500,
      metrics: 'loopback',
    });
    const file = join(folder, 'data/database.sqlite');
    expect(database).toEqual({ provider: 'sqlite', file, poolSize: 4, statementTimeoutMs: 4000 });
    expect(schema).toEqual({ removed: 'quarantine' });
    expect(limits).toEqual({
      maxRows: 1000,
      maxInsertRows: 1000,
      maxBodyBytes: 8388608,
      maxPayloadChars: 1000000,
      maxAnswerBytes: 8388608,
      perKeyPerSecond: 5000,
      perAddressPerSecond: 10000,
      authFailuresPerMinute: 20,
      lockoutSeconds: 60,
    });
  });

  it('write-behind is off, with the numbers of the contract', () => {
    expect(load(SMALL).writeBehind).toEqual({
      journal: join(folder, 'data/journal'),
      flushIntervalMs: 1000,
      flushAtPending: 500,
      maxPending: 100_000,
      maxJournalMegabytes: 512,
      haltAfterFailures: 5,
      drainOnStopMs: 10_000,
      namespaces: new Map(),
    });
  });

  it('a buffered namespace has consistent reads, and what looks unwise is legal', () => {
    const namespaces = { stats: {}, my_game: { consistentReads: false } };
    const { writeBehind } = load({
      ...SMALL,
      writeBehind: { namespaces, flushAtPending: 20, maxPending: 10, drainOnStopMs: 0 },
    });
    expect([...writeBehind.namespaces]).toEqual([
      ['stats', { consistentReads: true }],
      ['my_game', { consistentReads: false }],
    ]);
    expect(writeBehind).toMatchObject({ flushAtPending: 20, maxPending: 10, drainOnStopMs: 0 });
  });

  it('the example is a good file', () => {
    mkdirSync(join(folder, 'secrets'));
    writeFileSync(join(folder, 'secrets/local.secret'), secretOf('local'), { mode: 0o600 });
    const example = new URL('../../../vfs/sidecar.example.json', import.meta.url);
    const loaded = loadConfig(example.pathname, {}, true);
    expect(loaded.keys.map((key) => key.kid)).toEqual(['local']);
    expect(loaded.warnings).toEqual([]);
  });

  it('paths are relative to the folder of the file', () => {
    const api = { socketPath: 'run/s.sock', tls: { certFile: '../c.pem', keyFile: '/abs/k.pem' } };
    const loaded = load({ ...SMALL, api, database: { file: 'x/y.sqlite' } });
    expect(loaded.api.socketPath).toBe(join(folder, 'run/s.sock'));
    expect(loaded.api.tls).toEqual({ certFile: join(folder, '../c.pem'), keyFile: '/abs/k.pem' });
    expect(loaded.database).toMatchObject({ provider: 'sqlite', file: join(folder, 'x/y.sqlite') });
  });
});

describe('refused, with the field named', () => {
  const key = (changes: object) => ({ keys: [{ ...keyOf('local'), ...changes }] });
  const rows: [string, unknown, RegExp][] = [
    ['an unknown section', { ...SMALL, apis: {} }, /^apis: unknown setting\. Did you mean api\?$/],
    [
      'an unknown property',
      { ...SMALL, api: { hots: 'x' } },
      /^api\.hots: unknown setting\. Did you mean api\.host\?$/,
    ],
    [
      'an unknown property of a key',
      key({ secrett: 'x' }),
      /^keys\[0\]\.secrett: unknown setting\. Did you mean keys\[0\]\.secret\?$/,
    ],
    ['a section that is none', { ...SMALL, api: 5 }, /^api: expected a section in braces, got 5$/],
    [
      'text for a number',
      { ...SMALL, api: { port: '80' } },
      /^api\.port: expected an integer from 0 to 65535, got "80"$/,
    ],
    ['a fraction', { ...SMALL, limits: { maxRows: 1.5 } }, /^limits\.maxRows: expected an integer .*, got 1\.5$/],
    ['too much', { ...SMALL, limits: { maxRows: 1e30 } }, /^limits\.maxRows: expected an integer/],
    ['nothing a second', { ...SMALL, limits: { perKeyPerSecond: 0 } }, /^limits\.perKeyPerSecond: .*got 0$/],
    ['null for a number', { ...SMALL, api: { port: null } }, /^api\.port: .*got null$/],
    [
      'a host with a port',
      { ...SMALL, api: { host: '127.0.0.1:80' } },
      /^api\.host: expected an IP address or host name/,
    ],
    [
      'an unknown choice',
      { ...SMALL, api: { requireHttps: 'yes' } },
      /^api\.requireHttps: expected "always" or "non-loopback" or "never", got "yes"$/,
    ],
    [
      'a range that is none',
      { ...SMALL, api: { trustedProxies: ['10.0.0.0/33'] } },
      /^api\.trustedProxies: expected a list of CIDR ranges.*\["10\.0\.0\.0\/33"\]$/,
    ],
    ['a name for an address', key({ addresses: ['localhost'] }), /^keys\[0\]\.addresses: expected a list of CIDR/],
    ['half of tls', { ...SMALL, api: { tls: { certFile: 'x' } } }, /^api\.tls\.keyFile: expected .*, got nothing$/],
    [
      'a provider that is none',
      { ...SMALL, database: { provider: 'oracle' } },
      /^database\.provider: expected "sqlite" or "postgres" or "mysql" or "mongodb", got "oracle"$/,
    ],
    [
      'an unknown property of write-behind',
      { ...SMALL, writeBehind: { maxWaiting: 5 } },
      /^writeBehind\.maxWaiting: unknown setting$/,
    ],
    [
      'a buffered namespace that cannot be',
      { ...SMALL, writeBehind: { namespaces: { Stats: {} } } },
      /^writeBehind\.namespaces: expected the name of a namespace, got "Stats"$/,
    ],
    [
      'a buffered namespace that is no section',
      { ...SMALL, writeBehind: { namespaces: { stats: true } } },
      /^writeBehind\.namespaces\.stats: expected a section in braces, got true$/,
    ],
    [
      'a list of buffered namespaces',
      { ...SMALL, writeBehind: { namespaces: ['stats'] } },
      /^writeBehind\.namespaces: expected a section in braces, got \["stats"\]$/,
    ],
    [
      'an unknown property of a buffered namespace',
      { ...SMALL, writeBehind: { namespaces: { stats: { reads: true } } } },
      /^writeBehind\.namespaces\.stats\.reads: unknown setting$/,
    ],
    [
      'a queue of nothing',
      { ...SMALL, writeBehind: { maxPending: 0 } },
      /^writeBehind\.maxPending: expected an integer from 1 to 10000000, got 0$/,
    ],
    [
      'an address of the panel with a path',
      { ...SMALL, panel: { publicUrl: 'https://panel.example.org/path' } },
      /^panel\.publicUrl: expected null, or .*, got a string that is not shown$/,
    ],
    [
      'a host of the panel that is none',
      { ...SMALL, panel: { allowedHosts: ['a b'] } },
      /^panel\.allowedHosts.*: expected .*host names/,
    ],
    [
      'a private host with a port',
      { ...SMALL, panel: { notices: { privateHosts: ['nas.lan', '10.0.0.0/8', 'nas.lan:8443'] } } },
      /^panel\.notices\.privateHosts.*: expected .*host names, addresses, or CIDR ranges/,
    ],
    [
      'one port for both services',
      { ...SMALL, panel: { port: 20771 } },
      /^panel\.port: 20771 is api\.port too; choose another port$/,
    ],
    ['no keys', { keys: [] }, /^keys: expected at least one key, got an empty list$/],
    ['keys left out', {}, /^keys: expected a list, got nothing$/],
    ['a kid twice', { keys: [keyOf('a'), keyOf('a')] }, /^keys: the kid "a" is used twice$/],
    ['a kid with a slash', key({ kid: 'a/b' }), /^keys\[0\]\.kid: expected .*, got "a\/b"$/],
    [
      'an unknown operation',
      key({ operations: ['find', 'fnid'] }),
      /^keys\[0\]\.operations: expected a list of names of operations/,
    ],
    ['a namespace that cannot be', key({ namespaces: ['Game'] }), /^keys\[0\]\.namespaces: expected/],
    ['operations left out', key({ operations: undefined }), /^keys\[0\]\.operations: .*got nothing$/],
    [
      'no secret',
      key({ secret: undefined }),
      /^keys\[0\]: expected exactly one of secretFile, secretEnv, secret, got none$/,
    ],
    ['two secrets', key({ secretEnv: 'X' }), /^keys\[0\]: expected exactly one .* got secretEnv and secret$/],
    [
      'half a rotation',
      key({ previousSecretFile: 'x' }),
      /^keys\[0\]: expected previousSecretFile and previousUntil together/,
    ],
    [
      'a time that is none',
      key({ previousUntil: '2026-13-01T00:00:00Z' }),
      /^keys\[0\]\.previousUntil: expected a time/,
    ],
    ['a property twice', '{"keys":[],"keys":[]}', /^line 1, column 12: a property that is already there$/],
    ['no end', '{\n "keys": [\n', /^line 3, column 1: not valid JSON \(the end is missing: a } or a ]\?\)$/],
    ['an extra comma', '{\n "keys": [],\n}', /^line 3, column 1: not valid JSON \(an extra comma\?\)$/],
    ['a missing comma', '{"api": {} "keys": []}', /^line 1, column 12: not valid JSON \(a missing comma\?\)$/],
    ['a comment', '{ // the API\n}', /^line 1, column 3: not valid JSON \(comments are not allowed\)$/],
    ['quotes of another kind', "{'keys': []}", /^line 1, column 2: not valid JSON \(use double quotes\)$/],
    ['a bare word', '{"keys": nothing}', /^line 1, column 10: not valid JSON$/],
    ['UTF-16 of Windows', Buffer.from('\uFEFF{"keys": []}', 'utf16le'), /^saved as UTF-16; save it as UTF-8$/],
    ['another encoding', Buffer.from('{"keys": "\xE9"}', 'latin1'), /^not valid UTF-8; save it as UTF-8$/],
    ['a list', '[]', /expected a JSON object/],
  ];
  for (const [what, config, line] of rows) {
    it(what, () => expect(refusal(config)).toMatch(line));
  }

  it('all at once, in one line', () => {
    expect(refusal({ ...SMALL, api: { port: -1, host: '' } }).split('; ')).toHaveLength(2);
  });
});

describe('a warning says what follows from', () => {
  const rows: [string, object, RegExp | null][] = [
    [
      'an API for other machines without TLS',
      { api: { host: '0.0.0.0' } },
      /^api\.host is 0\.0\.0\.0 without api\.tls: requests from other machines are refused with https_required\./,
    ],
    [
      'the same with HTTP allowed',
      { api: { host: '10.0.0.5', requireHttps: 'never' } },
      /everyone on the network between can read the rows/,
    ],
    ['a web server in front of it', { api: { host: '0.0.0.0', trustedProxies: ['10.0.0.1/32'] } }, null],
    [
      'a panel for other machines without TLS',
      { panel: { host: '0.0.0.0' } },
      /^panel\.host is 0\.0\.0\.0 without TLS: passwords cross the network in plain text\./,
    ],
    ['the panel behind TLS', { panel: { host: '0.0.0.0', publicUrl: 'https://panel.example.org' } }, null],
    ['this machine alone', { api: { host: '::1' }, panel: { host: 'localhost' } }, null],
  ];
  for (const [what, changes, line] of rows) {
    it(what, () => {
      const { warnings } = load({ ...SMALL, ...changes });
      expect(warnings).toEqual(line === null ? [] : [expect.stringMatching(line)]);
    });
  }
});

describe('secrets', () => {
  const SECRET = 'hunter2-hunter2-hunter2-hunter2-hunter2';
  const key = (changes: object) => ({ keys: [{ kid: 'local', operations: ['*'], namespaces: ['*'], ...changes }] });

  it('come from a file, the environment or the text, without the white space around them', () => {
    writeFileSync(join(folder, 's'), ` ${SECRET}\n\n`, { mode: 0o600 });
    const signature = createHmac('sha256', SECRET).update('text').digest('base64url');
    for (const config of [key({ secretFile: 's' }), key({ secretEnv: 'MINE' }), key({ secret: SECRET })]) {
      const [loaded] = load(config, { MINE: `${SECRET} ` }).keys;
      expect(loaded?.secret.sign('text')).toBe(signature);
    }
  });

  it('31 bytes are too few, 32 of UTF-8 are enough', () => {
    expect(refusal(key({ secret: 'x'.repeat(31) }))).toMatch(/^keys\[0\]\.secret: .* got 31 bytes$/);
    expect(load(key({ secret: 'é'.repeat(16) })).keys).toHaveLength(1);
  });

  const rows: [string, unknown, NodeJS.ProcessEnv?][] = [
    ['too short', key({ secret: 'hunter2' })],
    ['a wrong type', key({ secret: [SECRET] })],
    ['in a file that is no JSON', `{"keys":[{"secret":"${SECRET}",,}]}`],
    ['in place of the list of keys', { keys: SECRET }],
    ['in place of a key', { keys: [SECRET] }],
    ['in a wrong property', key({ secret: SECRET, secretText: SECRET })],
    ['from the environment', key({}), { SIDECAR_KEYS_0_SECRET: 'hunter2' }],
    ['a password in a URL', { ...SMALL, database: { provider: 'mysql', url: 'postgres://a:hunter2@b/c' } }],
  ];
  for (const [what, config, environment] of rows) {
    it(`never shown: ${what}`, () => expect(refusal(config, environment)).not.toContain('hunter2'));
  }

  it('a file that everybody can read is used, with a warning', () => {
    writeFileSync(join(folder, 's'), SECRET);
    chmodSync(join(folder, 's'), 0o644);
    const { warnings } = load(key({ secretFile: 's' }));
    expect(warnings).toEqual([expect.stringContaining('every user of this machine can read it')]);
    expect(warnings.join()).not.toContain('hunter2');
  });

  it('a file that is not there is named', () => {
    expect(refusal(key({ secretFile: 'nowhere' }))).toMatch(
      /^keys\[0\]\.secretFile: the file .*nowhere does not exist: put it there, or name the right one$/,
    );
  });

  it('a file that is not UTF-8 is refused: other programs read other characters in it', () => {
    writeFileSync(join(folder, 's'), Buffer.concat([Buffer.from(SECRET), Buffer.of(0xe9)]), { mode: 0o600 });
    expect(refusal(key({ secretFile: 's' }))).toMatch(
      /^keys\[0\]\.secretFile: expected text in UTF-8, got other bytes in /,
    );
  });
});

describe('the environment', () => {
  it('overrides single values of every kind, also in sections that the file leaves out', () => {
    const loaded = load(SMALL, {
      SIDECAR_API_PORT: '0',
      SIDECAR_API_REQUIRE_HTTPS: 'never',
      SIDECAR_API_TRUSTED_PROXIES: '10.0.0.0/8, 192.168.0.0/16',
      SIDECAR_API_SOCKET_PATH: '/run/s.sock',
      SIDECAR_API_TLS_CERT_FILE: '/c',
      SIDECAR_API_TLS_KEY_FILE: '/k',
      SIDECAR_DATABASE_STATEMENT_TIMEOUT_MS: '1000',
      SIDECAR_KEYS_0_ALLOW_UNFILTERED_WRITES: 'false',
      SIDECAR_KEYS_0_OPERATIONS: 'find,count',
      SIDECAR_SCHEMA_REMOVED: 'deny',
      SIDECAR_WRITE_BEHIND_MAX_PENDING: '7',
      SIDECAR_WRITE_BEHIND_NAMESPACES_MY_GAME_CONSISTENT_READS: 'false',
      OTHER: 'x',
    });
    expect(loaded.api).toMatchObject({
      port: 0,
      requireHttps: 'never',
      trustedProxies: ['10.0.0.0/8', '192.168.0.0/16'],
      socketPath: '/run/s.sock',
      tls: { certFile: '/c', keyFile: '/k' },
    });
    expect(loaded.database.statementTimeoutMs).toBe(1000);
    expect(loaded.keys[0]).toMatchObject({ allowUnfilteredWrites: false, operations: ['find', 'count'] });
    expect(loaded.schema.removed).toBe('deny');
    expect(loaded.writeBehind.maxPending).toBe(7);
    expect([...loaded.writeBehind.namespaces]).toEqual([['my_game', { consistentReads: false }]]);
    expect(loaded.warnings).toEqual([]);
  });

  it('empty means left out, or null', () => {
    const api = { socketPath: '/run/s.sock' };
    const loaded = load(
      { keys: [{ ...keyOf('local'), secret: undefined, secretFile: 'x' }], api },
      {
        SIDECAR_API_SOCKET_PATH: '',
        SIDECAR_KEYS_0_SECRET_FILE: '',
        SIDECAR_KEYS_0_SECRET: secretOf('local'),
      },
    );
    expect(loaded.api.socketPath).toBeNull();
  });

  it('what fits no field is a warning, but not what a key names', () => {
    const keys = [{ ...keyOf('local'), secret: undefined, secretEnv: 'SIDECAR_LOCAL' }];
    const { warnings } = load({ keys }, { SIDECAR_LOCAL: secretOf('local'), SIDECAR_API_PROT: '1' });
    expect(warnings).toEqual(['SIDECAR_API_PROT is set, and names no setting of sidecar.json']);
  });

  it('a value that does not fit is refused as in the file', () => {
    expect(refusal(SMALL, { SIDECAR_API_PORT: '80x' })).toMatch(/^api\.port: .*got "80x" from SIDECAR_API_PORT$/);
    expect(refusal(SMALL, { SIDECAR_KEYS_0_ALLOW_UNFILTERED_WRITES: 'yes' })).toMatch(
      /allowUnfilteredWrites: expected true or false/,
    );
  });
});

it('time limits that do not nest are a warning', () => {
  expect(load({ ...SMALL, database: { statementTimeoutMs: 5000 } }).warnings).toEqual([
    expect.stringContaining('not below api.requestTimeoutMs'),
  ]);
});
