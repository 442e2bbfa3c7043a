import { spawnSync } from 'node:child_process';
import { chownSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect } from 'vitest';
import { itIf } from '#support/it-if.ts';
import { SIDECAR_MAIN } from '#support/sidecar-program.ts';
import { writeConfig } from '../support/config-folder.ts';
import { KILLS } from '../support/kills-table.ts';
import { spawnSidecar } from '../support/sidecar-process.ts';
import { testFolder } from '../support/test-folder.ts';

/** docs/operations.md has root run the commands of a service, whose user owns its folder: that user must be able to use what they make. */

const USER = 65_534;
const whyNot = process.getuid?.() === 0 ? null : 'only root can give files away';
const SLOW_MS = 180_000;

const [here, fresh, disk] = [testFolder(), testFolder(), testFolder()];
const CONFIG = join(here, 'sidecar.json');

function allBelow(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return [folder, ...entries.map((entry) => join(entry.parentPath, entry.name))];
}

function give(folder: string): void {
  for (const path of allBelow(folder)) chownSync(path, USER, USER);
}

function ofRoot(folder: string): string[] {
  return allBelow(folder).filter((path) => lstatSync(path).uid === 0);
}

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SIDECAR_MAIN, ...args], { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

beforeAll(async () => {
  if (whyNot !== null) return;
  const backup = { remote: { type: 'folder', path: disk } };
  const writeBehind = { namespaces: { stats: {} } };
  const sidecar = await spawnSidecar(here, { backup, writeBehind });
  await sidecar.client.must('schema.sync', { namespace: 'game', schema: { tables: [KILLS] } });
  await sidecar.client.must('insert', { namespace: 'game', table: 'kills', rows: [{ who: 'ann' }] });
  await sidecar.kill('SIGTERM');
}, SLOW_MS);

beforeEach(() => {
  if (whyNot === null) for (const folder of [here, fresh]) give(folder);
});

itIf(
  whyNot,
  'a backup, a drill and a restore by root leave nothing that the service cannot use',
  { timeout: SLOW_MS },
  () => {
    expect(run('backup', '--config', CONFIG)).toMatchObject({ status: 0 });
    expect(ofRoot(here)).toEqual([]);
    expect(run('backup', 'drill', '--config', CONFIG)).toMatchObject({ status: 0 });
    expect(ofRoot(here)).toEqual([]);
    const [name = ''] = readdirSync(join(here, 'backups')).filter((each) => each.startsWith('backup-'));
    const backup = join(here, 'backups', name);
    expect(run('restore', backup, '--replace', '--config', CONFIG)).toMatchObject({ status: 0 });
    expect(ofRoot(here)).toEqual([]);
  },
);

itIf(whyNot, 'a new machine is made by root in the folder of its service', { timeout: SLOW_MS }, () => {
  const config = join(fresh, 'sidecar.json');
  writeFileSync(config, JSON.stringify({ backup: { remote: { type: 'folder', path: disk } } }));
  give(fresh);
  const { status, output } = run('restore', '--from', 'folder', '--latest', '--config', config);
  expect(output).toContain('restored; start the sidecar');
  expect(status).toBe(0);
  expect(ofRoot(fresh)).toEqual([]);
});

itIf(whyNot, 'a copy by root into a new file of SQLite makes a database of the service', { timeout: SLOW_MS }, () => {
  const config = writeConfig(join(here, 'other'));
  give(here);
  expect(run('copy', '--from', CONFIG, '--to', config)).toMatchObject({ status: 0 });
  expect(ofRoot(here)).toEqual([]);
});

itIf(
  whyNot,
  'a folder of another user than the service keeps what root writes there for root',
  { timeout: SLOW_MS },
  () => {
    const elsewhere = testFolder();
    mkdirSync(join(elsewhere, 'shared'));
    chownSync(join(elsewhere, 'shared'), USER - 1, USER - 1);
    expect(run('backup', '--to', join(elsewhere, 'shared'), '--config', CONFIG)).toMatchObject({ status: 0 });
    expect(allBelow(join(elsewhere, 'shared')).slice(1)).toEqual(ofRoot(join(elsewhere, 'shared')));
  },
);

itIf(whyNot, 'doctor names what belongs to root beside a service of another user', () => {
  expect(run('doctor', '--config', CONFIG).output).not.toContain('belongs to');
  chownSync(join(here, 'backups'), 0, 0);
  const { status, output } = run('doctor', '--config', CONFIG);
  expect(output).toMatch(/fail {2}files {10}\S+\/backups belongs to another user \(uid 0\) → chown/);
  expect(status).toBe(1);
});

itIf(whyNot, 'a key that root makes and rotates is one that the service can read', () => {
  expect(run('keys', 'new', 'second', '--config', CONFIG)).toMatchObject({ status: 0 });
  expect(run('keys', 'rotate', 'second', '--config', CONFIG)).toMatchObject({ status: 0 });
  expect(ofRoot(here)).toEqual([]);
});
