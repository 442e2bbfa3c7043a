import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { newIdentity } from '#sidecar/backup/remote/identity.ts';
import { runBackup } from '#sidecar/commands/backup.ts';
import { runKeys } from '#sidecar/commands/keys.ts';
import { runRestore } from '#sidecar/commands/restore.ts';
import { readRecoveryStart, recoverConfig } from '#sidecar/config/recovery-config.ts';
import { copyIo } from '../support/copy-io.ts';
import { startSidecar } from '../support/sidecar.ts';
import { testFolder } from '../support/test-folder.ts';

/** A new machine gets the secrets of the old one, whatever the old configuration says about them. */

let [here, there, disk] = ['', '', ''];

beforeEach(() => {
  [here, there, disk] = [testFolder(), testFolder(), testFolder()];
});

/** A backup off a machine whose key was rotated. */
async function backUpRotated(backup: object): Promise<void> {
  const { io } = copyIo();
  mkdirSync(join(here, 'secrets'));
  writeFileSync(join(here, 'secrets/local.secret'), 'a secret of the machine that burnt down', { mode: 0o600 });
  const keys = [{ kid: 'local', secretFile: 'secrets/local.secret', operations: ['*'], namespaces: ['*'] }];
  const remote = { type: 'folder', path: disk };
  const sidecar = await startSidecar({ folder: here, config: { keys, backup: { remote, ...backup } } });
  await sidecar.stop();
  const file = sidecar.configFile;
  await runKeys(
    ['rotate', 'local', '--config', file],
    { environment: {} },
    { ...io, print: () => {}, isForPeople: false },
  );
  expect(await runBackup(['--config', file], io)).toBe(true);
}

async function restore(...args: string[]): Promise<string> {
  const { io, lines } = copyIo();
  const config = join(there, 'sidecar.json');
  writeFileSync(config, JSON.stringify({ backup: { remote: { type: 'folder', path: disk } } }), { mode: 0o600 });
  expect(await runRestore(['--from', 'folder', '--latest', ...args, '--config', config], io)).toBe(true);
  return lines.join('\n');
}

const read = (folder: string, name: string) => readFileSync(join(folder, name), 'utf8');

it('both secrets of a key that was rotated come back', async () => {
  const { identity, recipient } = await newIdentity();
  await backUpRotated({ encryptTo: [recipient], secrets: true });
  writeFileSync(join(there, 'identity'), identity);
  const told = await restore('--identity', join(there, 'identity'));
  expect(told).not.toContain('left out: the previous secret');
  for (const name of ['secrets/local.secret', 'secrets/local.previous.secret']) {
    expect(read(there, name)).toBe(read(here, name));
  }
});

it('a key that was rotated gets a new secret if the backup has none, and is no longer rotated', async () => {
  await backUpRotated({});
  expect(await restore()).toContain('the secret of the key local is new');
  const { keys } = JSON.parse(read(there, 'sidecar.json'));
  expect(keys).toEqual([{ kid: 'local', secretFile: 'secrets/local.secret', operations: ['*'], namespaces: ['*'] }]);
  expect(existsSync(join(there, 'secrets/local.previous.secret'))).toBe(false);
});

const KEY = { kid: 'local', secretEnv: 'KEY_OF_GAME', operations: ['*'], namespaces: ['*'] };

function recovered(backup: object, files: Record<string, string>) {
  const file = join(there, 'sidecar.json');
  writeFileSync(file, '{}');
  return recoverConfig(readRecoveryStart(file, {}), { ...backup }, { files, keys: {}, databaseUrl: null }, {});
}

it('the URL of a database server is taken from the secrets of the backup', () => {
  const url = 'postgres://game:secret@127.0.0.1/game';
  const database = { provider: 'postgres', urlFile: 'secrets/database.url' };
  const { config, files } = recovered({ database, keys: [KEY] }, { 'secrets/database.url': `${url}\n` });
  expect(config.database).toMatchObject({ url });
  expect(files).toEqual(new Map([[join(there, 'secrets/database.url'), `${url}\n`]]));
  expect(() => recovered({ database, keys: [KEY] }, {})).toThrow('database.urlFile');
});

it('a secret in a variable is named as missing, and does not hold up the rows', () => {
  const { missing } = recovered({ keys: [KEY] }, {});
  expect(missing).toContain('the secret of the key local is expected in the variable KEY_OF_GAME');
});

it('a secret before a rotation that is lost is named while game servers may still use it', () => {
  writeFileSync(join(there, 'now.secret'), 'x'.repeat(40), { mode: 0o600 });
  const rotated = (previousUntil: string) => {
    const previous = { previousSecretFile: 'secrets/local.previous.secret', previousUntil };
    return recovered({ keys: [{ ...KEY, secretEnv: undefined, secretFile: 'now.secret', ...previous }] }, {}).leftOut;
  };
  expect(rotated('2099-01-31T00:00:00Z')).toEqual([
    'the previous secret of the key local, good until 2099-01-31T00:00:00Z: game servers that still sign with it need the present one',
  ]);
  expect(rotated('2020-01-31T00:00:00Z')).toEqual([]);
});
