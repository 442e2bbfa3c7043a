import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runBackup } from '#sidecar/commands/backup.ts';
import { runRestore } from '#sidecar/commands/restore.ts';
import { writeConfig } from '../support/config-folder.ts';
import { copyIo } from '../support/copy-io.ts';
import { KILLS } from '../support/kills-table.ts';
import { startSidecar } from '../support/sidecar.ts';
import { testFolder } from '../support/test-folder.ts';

async function played(): Promise<{ folder: string; config: string }> {
  const folder = testFolder();
  const sidecar = await startSidecar({ folder });
  await sidecar.client.must('schema.sync', { namespace: 'game', schema: { tables: [KILLS] } });
  await sidecar.client.must('insert', { namespace: 'game', table: 'kills', rows: [{ who: 'ann' }] });
  await sidecar.stop();
  return { folder, config: sidecar.configFile };
}

it.each([
  ['is no database', (panel: string) => writeFileSync(panel, 'not a database'.repeat(100))],
  ['is a folder', (panel: string) => mkdirSync(panel)],
])('rows are backed up although panel.sqlite %s, and a warning says what is lacking', async (_, damage) => {
  const { folder, config } = await played();
  const panel = join(folder, 'data/panel.sqlite');
  damage(panel);
  const made = copyIo();
  expect(await runBackup(['--config', config, '--json'], made.io)).toBe(true);
  expect(made.errors).toEqual([
    expect.stringMatching(/^warning: the accounts and settings of the panel are not in the backup: \S+panel\.sqlite /),
  ]);
  const { path, rows } = JSON.parse(made.lines.join('')) as { path: string; rows: number };
  expect(rows).toBe(1);
  expect(readdirSync(path).toSorted()).toEqual(['database.sqlite', 'manifest.json', 'sidecar.json', 'waiting.jsonl']);
  expect(readFileSync(join(path, 'manifest.json'), 'utf8')).not.toContain('panel.sqlite');
  const { io, lines } = copyIo();
  expect(await runRestore([path, '--config', writeConfig(testFolder())], io)).toBe(true);
  expect(lines.at(-1)).toBe('restored; start the sidecar');
});
