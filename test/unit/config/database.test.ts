import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadConfig, type SidecarConfig } from '#sidecar/config/load-config.ts';
import { writeConfig } from '#support/config-folder.ts';
import { testFolder } from '#support/test-folder.ts';

const URL_WITH_PASSWORD = 'postgres://game:hunter2@db.lan:5433/game';
let folder: string;

beforeEach(() => {
  folder = testFolder();
});

function load(database: object, environment: NodeJS.ProcessEnv = {}): SidecarConfig {
  return loadConfig(writeConfig(folder, { database: { file: undefined, ...database } }), environment);
}

describe('the URL of a server', () => {
  const limits = { poolSize: 4, statementTimeoutMs: 4000, causalReads: true };
  const expected = { provider: 'postgres', url: URL_WITH_PASSWORD, ...limits };

  it('stands in sidecar.json, in a file beside it or in the environment', () => {
    writeFileSync(join(folder, 'url'), `${URL_WITH_PASSWORD}\n`, { mode: 0o600 });
    expect(load({ provider: 'postgres', url: URL_WITH_PASSWORD }).database).toEqual(expected);
    expect(load({ provider: 'postgres', urlFile: 'url' }).database).toEqual(expected);
    expect(load({ provider: 'postgres', urlEnv: 'GAME_DB' }, { GAME_DB: URL_WITH_PASSWORD }).database).toEqual(
      expected,
    );
    expect(load({ provider: 'postgres' }, { SIDECAR_DATABASE_URL: URL_WITH_PASSWORD }).database).toEqual(expected);
  });

  const schemes: [string, string][] = [
    ['postgres', 'postgresql://h/d'],
    ['mysql', 'mysql://u@h:3306/d'],
    ['mysql', 'mariadb://u@h/d'],
    ['mysql', 'mysql://u:p,q@own:3306,second,[::1]:3307/d?ssl=true'],
    ['postgres', 'postgres://u:p@h1,h2:5433/d?sslmode=verify-full&options=-c%20work_mem%3D8MB'],
    ['mongodb', 'mongodb://a:1,b:2/d?replicaSet=r'],
    ['mongodb', 'mongodb+srv://h/d'],
  ];
  it.each(schemes)('%s takes %s', (provider, url) => {
    expect(load({ provider, url }).database).toMatchObject({ provider, url });
  });

  const refusals: [string, object, RegExp][] = [
    [
      'none',
      { provider: 'mysql' },
      /^.*sidecar\.json: database: expected exactly one of url, urlFile, urlEnv .* mysql, got none$/,
    ],
    ['two', { provider: 'mysql', url: 'mysql://h/d', urlEnv: 'X' }, /got url and urlEnv$/],
    [
      'another engine',
      { provider: 'mysql', url: URL_WITH_PASSWORD },
      /^.*sidecar\.json: database\.url: must begin with mysql:\/\/ \(this begins with postgres:\/\/\)$/,
    ],
    ['no URL', { provider: 'postgres', url: 'postgres://:::' }, /^.*sidecar\.json: database\.url: expected a URL/],
    ['a # in a password', { provider: 'postgres', url: 'postgres://u:hunter2#x@h/d' }, /%23 for #/],
    ['a % in a password', { provider: 'mysql', url: 'mysql://u:hunter2%x@h/d' }, /%25 for %$/],
    ['no database', { provider: 'mysql', url: 'mysql://u:hunter2@h:3306/' }, /name of a database after the host/],
    [
      'no host between two',
      { provider: 'mysql', url: 'mysql://a,,b/d' },
      /^.*sidecar\.json: database\.url: expected a host/,
    ],
    [
      'a bad second host',
      { provider: 'postgres', url: 'postgres://u:hunter2@a,b:x/d' },
      /^.*sidecar\.json: database\.url: expected a URL/,
    ],
    ...[
      ['postgres', 'target_session_attrs=read-write', /got target_session_attrs, which has no effect .*: remove it$/],
      [
        'postgres',
        'connect_timeout=2',
        /^.*sidecar\.json: database\.url: .* got connect_timeout, which has no effect: remove it$/,
      ],
      [
        'mysql',
        'ssl=yes',
        /^.*sidecar\.json: database\.url: expected ssl=true or ssl=unchecked or ssl=false, got ssl=yes$/,
      ],
      [
        'mysql',
        'charset=latin1',
        /^.*sidecar\.json: database\.url: expected no parameters but ssl, socketPath, got charset/,
      ],
      [
        'mysql',
        'socketPath=/run/x.sock',
        /^.*sidecar\.json: database\.url: expected no parameter socketPath beside several hosts$/,
      ],
    ].map(([provider, parameter, message]): [string, object, RegExp] => [
      `${parameter}`,
      { provider, url: `${provider}://u:hunter2@a,b/d?${parameter}` },
      message as RegExp,
    ]),
    [
      'a variable not set',
      { provider: 'mongodb', urlEnv: 'NOT_SET' },
      /^.*sidecar\.json: database\.urlEnv: .*set, got none$/,
    ],
    [
      'no file',
      { provider: 'mongodb', urlFile: 'nowhere' },
      /^.*sidecar\.json: database\.urlFile: the file .*nowhere does not exist: put it there, or name the right one$/,
    ],
  ];
  it.each(refusals)('%s is refused, without its text', (_what, database, message) => {
    const refused = () => load(database);
    expect(refused).toThrow(message);
    expect(refused).not.toThrow(/hunter2/);
  });

  it('that all can read and that holds a password is a warning', () => {
    const file = writeConfig(folder, { database: { provider: 'postgres', file: undefined, url: URL_WITH_PASSWORD } });
    expect(loadConfig(file, {}).warnings).toEqual([]);
    chmodSync(file, 0o644);
    // The secret of the key stands in the same file; without it the URL alone must do.
    const bare = { provider: 'postgres', url: URL_WITH_PASSWORD };
    writeFileSync(file, JSON.stringify({ database: bare, keys: [key()] }));
    writeFileSync(join(folder, 's'), 'x'.repeat(40), { mode: 0o600 });
    expect(loadConfig(file, {}).warnings).toEqual([expect.stringContaining('holds a secret')]);
  });
});

function key(): object {
  return { kid: 'local', secretFile: 's', operations: ['*'], namespaces: ['*'] };
}

it('what another provider would use may stay, so that a change is one line, and is named', () => {
  const both = { file: 'data/x.sqlite', url: 'mysql://h/d' };
  const onFile = load({ provider: 'sqlite', ...both });
  expect(onFile.database).toMatchObject({ provider: 'sqlite', file: join(folder, 'data/x.sqlite') });
  expect(onFile.warnings).toEqual(['database.url is not used by provider sqlite']);
  const onServer = load({ provider: 'mysql', ...both });
  expect(onServer.database).not.toHaveProperty('file');
  expect(onServer.warnings).toEqual(['database.file is not used by provider mysql']);
});
