import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { runBackup } from '#sidecar/commands/backup.ts';
import { runCopy } from '#sidecar/commands/copy.ts';
import { runDoctor } from '#sidecar/commands/doctor.ts';
import { runKeys } from '#sidecar/commands/keys.ts';
import { runRestore } from '#sidecar/commands/restore.ts';
import { keyOf, secretOf, writeConfig } from '../support/config-folder.ts';
import { copyIo } from '../support/copy-io.ts';
import { KILLS } from '../support/kills-table.ts';
import { startSidecar } from '../support/sidecar.ts';
import { SignedClient } from '../support/signed-client.ts';
import { testFolder } from '../support/test-folder.ts';

/** A key that one box has revoked stays refused in every database that its rows come to, also by a box that still lists it. */

const LATER = () => Date.now() + 61_000;
const KEYS = [keyOf('local'), keyOf('lost')];

let [here, there, disk] = ['', '', ''];

beforeEach(async () => {
  [here, there, disk] = [testFolder(), testFolder(), testFolder()];
  const backup = { remote: { type: 'folder', path: disk } };
  const sidecar = await startSidecar({ folder: here, config: { keys: KEYS, backup } });
  await sidecar.client.must('schema.sync', { namespace: 'game', schema: { tables: [KILLS] } });
  await sidecar.stop();
  const { io } = copyIo();
  const forKeys = { print: () => {}, printError: io.printError, isForPeople: false };
  await runKeys(['revoke', 'lost', '--config', sidecar.configFile], { environment: {} }, forKeys);
  // The other box of the database.
  writeConfig(here, { keys: KEYS, backup });
});

/** Answers of both keys at a sidecar of the new database that lists them. */
async function answersThere() {
  const sidecar = await startSidecar({ folder: there, config: { keys: KEYS }, now: LATER });
  const lost = new SignedClient({ address: sidecar.address, kid: 'lost', secret: secretOf('lost'), now: LATER });
  const codes = [await sidecar.client.call('health', {}), await lost.call('health', {})].map(({ status }) => status);
  await lost.close();
  await sidecar.stop();
  return codes;
}

it('by copy', async () => {
  const { io } = copyIo();
  const to = writeConfig(there, { keys: KEYS });
  expect(await runCopy(['--from', join(here, 'sidecar.json'), '--to', to], io)).toBe(true);
  expect(await answersThere()).toEqual([200, 401]);
});

it.each(['local', 'remote'])('by a backup and a restore (%s), which names it', async (where) => {
  const made = copyIo();
  expect(await runBackup(['--config', join(here, 'sidecar.json'), '--json'], made.io)).toBe(true);
  const { path } = JSON.parse(made.lines.join('')) as { path: string };
  mkdirSync(there, { recursive: true });
  const config = writeConfig(there, { keys: KEYS });
  const { io, lines } = copyIo();
  if (where === 'remote') {
    writeFileSync(config, JSON.stringify({ keys: KEYS, backup: { remote: { type: 'folder', path: disk } } }));
    await runRestore(['--from', 'folder', '--latest', '--config', config], io);
  } else await runRestore([path, '--config', config], io);
  expect(lines.filter((line) => line.startsWith('warning: the key'))).toEqual([
    expect.stringMatching(/^warning: the key lost was revoked on \S+Z and is refused: make one of another name/),
  ]);
  expect(await answersThere()).toEqual([200, 401]);
});

it('a new key with the name of a revoked one is refused, and doctor names one that is still listed', async () => {
  const { io } = copyIo();
  const said: string[] = [];
  const print = (line: string): void => void said.push(line);
  const own = { print, printError: io.printError, isForPeople: true };
  const config = join(here, 'sidecar.json');
  await runDoctor(['--config', config], { environment: {} }, own);
  expect(said.filter((line) => line.includes('revoked'))).toEqual([
    expect.stringMatching(/^warn {2}key {12}lost was revoked on \S+Z and is refused → keys revoke lost removes it/),
  ]);
  writeConfig(here, { keys: [keyOf('local')] });
  const before = readFileSync(config, 'utf8');
  await expect(runKeys(['new', 'lost', '--config', config], { environment: {} }, own)).rejects.toThrow(
    /^the key lost was revoked on \S+Z: every sidecar of the database refuses it; choose another name$/,
  );
  expect(readFileSync(config, 'utf8')).toBe(before);
  expect(existsSync(join(here, 'secrets/lost.secret'))).toBe(false);
  await runKeys(['new', 'found', '--config', config], { environment: {} }, own);
});
