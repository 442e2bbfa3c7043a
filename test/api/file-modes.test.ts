import { spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { SIDECAR_MAIN } from '#support/sidecar-program.ts';
import { spawnSidecar } from '../support/sidecar-process.ts';
import { testFolder } from '../support/test-folder.ts';

/** As most systems set it: everybody may read. */
const OPEN_UMASK = ['sh', '-c', 'umask 022; exec "$0" "$@"'];
const SCHEMA = { tables: [{ name: 'things', columns: [{ name: 'id', type: 'int64' }] }] };

/** Files and folders below that others may use, with their modes: `0640 data/database.sqlite`. */
function openToOthers(folder: string): string[] {
  return readdirSync(folder, { recursive: true })
    .map((name) => ({ name: String(name), mode: lstatSync(join(folder, String(name))).mode & 0o777 }))
    .filter(({ mode }) => (mode & 0o077) !== 0)
    .map(({ name, mode }) => `0${mode.toString(8)} ${name}`);
}

it.skipIf(process.platform === 'win32')('all that the sidecar makes is for its user alone', async () => {
  const folder = testFolder();
  // The folders are the owner's, and open.
  mkdirSync(join(folder, 'data'), { mode: 0o755 });
  const changes = { panel: { enabled: true }, writeBehind: { namespaces: { stats: {} } } };
  const sidecar = await spawnSidecar(folder, changes, {}, undefined, OPEN_UMASK);
  onTestFinished(async () => void (await sidecar.kill()));
  for (const namespace of ['game', 'stats']) {
    await sidecar.client.must('schema.sync', { namespace, schema: SCHEMA });
    await sidecar.client.must('insert', { namespace, table: 'things', rows: [{ id: 1 }] });
  }
  const backup = [process.execPath, SIDECAR_MAIN, 'backup', '--config', join(folder, 'sidecar.json')];
  const [program = '', ...args] = [...OPEN_UMASK, ...backup];
  const cwd = new URL('../..', import.meta.url);
  const made = spawnSync(program, args, { cwd, encoding: 'utf8' });
  expect(made.status, made.stderr).toBe(0);

  const files = readdirSync(folder, { recursive: true }).map(String);
  for (const wanted of [/database\.sqlite$/, /panel\.sqlite$/, /journal\/.+/, /backups\/.+\/.+/, /\.nonces$/]) {
    expect(files).toContainEqual(expect.stringMatching(wanted));
  }
  expect(openToOthers(folder)).toEqual(['0755 data']);
  expect(await sidecar.kill('SIGTERM')).toBe(0);
  expect(openToOthers(folder)).toEqual(['0755 data']);
});
