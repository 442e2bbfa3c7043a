import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SIDECAR_MAIN } from '#support/sidecar-program.ts';
import { testFolder } from '../support/test-folder.ts';

/** As by `--config "$FILE"` if the variable is not set. */
it.each([
  [['init', '--config', ''], '--config'],
  [['init', '--config='], '--config'],
  [['--config', ''], '--config'],
  [['backup', '--to', '', '--config', 'sidecar.json'], '--to'],
  [['restore', ''], 'restore'],
])('%j is refused before anything is done', (args, named) => {
  const folder = testFolder();
  const cwd = join(folder, 'here');
  mkdirSync(cwd);
  const { status, stdout, stderr } = spawnSync(process.execPath, [SIDECAR_MAIN, ...args], { cwd, encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({
    ...{ status: 2, stdout: '' },
    stderr: `sidecar: ${named}: expected a value, got an empty text; --help tells more\n`,
  });
  expect([readdirSync(folder), readdirSync(cwd)]).toEqual([['here'], []]);
});

it('an empty text may stand for NULL', () => {
  const args = ['rows', 'export', '--namespace', 'game', '--table', 'kills', '--format', 'csv', '--null', ''];
  const { stderr } = spawnSync(process.execPath, [SIDECAR_MAIN, ...args], { cwd: testFolder(), encoding: 'utf8' });
  expect(stderr).toContain('vfs/sidecar.json does not exist');
});
