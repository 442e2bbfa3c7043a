import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { BackupsAnswer } from '#panel/shapes/backups.ts';
import type { JobView } from '#panel/shapes/jobs.ts';
import { KILLS } from '#support/kills-table.ts';
import { startSidecar, writeConfig } from '#support/sidecar.ts';
import { testFolder } from '#support/test-folder.ts';
import { type KilledPanel, prepareKilledPanel, startKilledPanel } from './killed-panel.ts';

/** A restore of the panel whose sidecar is killed in its middle: it goes on by itself at the next start, and is undone. */

const NAMES = Array.from({ length: 40 }, (_, i) => `name ${i}`);
const PANEL_ON = { panel: { enabled: true, port: 0 } };
const TABLE = { namespace: 'game', table: 'kills' };

let sidecar: KilledPanel | null = null;
afterEach(() => sidecar?.stop());

async function prepare(): Promise<string> {
  const folder = testFolder();
  const plain = await startSidecar({ folder });
  await plain.client.must('schema.sync', { namespace: 'game', schema: { tables: [KILLS] } });
  await plain.client.must('insert', { ...TABLE, rows: NAMES.map((who) => ({ who })) });
  await plain.stop();
  prepareKilledPanel(folder, testFolder());
  return folder;
}

const read = async ({ client }: KilledPanel) => (await client.get<BackupsAnswer>('/api/backups')).body;

async function ended(panel: KilledPanel): Promise<JobView> {
  await expect
    .poll(async () => (await read(panel)).status, { timeout: 120_000 })
    .toMatchObject({ endedAt: expect.any(String) });
  return (await read(panel)).status as JobView;
}

const wish = (name: string) => ({ name, where: 'local', namespace: 'game', confirm: name });

/** Restores in a sidecar that is killed before the statement, and returns the next one with its job at its end. */
async function restoreKilledAt(folder: string, name: string, sql: string): Promise<JobView> {
  const kill = join(folder, 'kill');
  const killed = await startKilledPanel(folder, 'kill-at-sql');
  const gone = once(killed.child, 'exit');
  writeFileSync(kill, sql);
  await killed.client.post('/api/backups/restore', wish(name)).catch(() => null);
  expect(await gone).toEqual([null, 'SIGKILL']);
  rmSync(kill);
  sidecar = await startKilledPanel(folder);
  const job = await ended(sidecar);
  expect(job).toMatchObject({ kind: 'backups.restore', state: 'succeeded', outcome: { undo: expect.any(String) } });
  await sidecar.stop();
  return job;
}

async function namesIn(folder: string): Promise<string[]> {
  const plain = await startSidecar({ folder, config: { panel: { enabled: false } } });
  const { rows } = await plain.client.must<{ rows: { who: string }[] }>('find', TABLE);
  await plain.stop();
  return rows.map(({ who }) => who);
}

it('goes on when its sidecar was killed, and so does the undo', { timeout: 120_000 }, async () => {
  const folder = await prepare();
  sidecar = await startKilledPanel(folder);
  await sidecar.client.post('/api/backups/make', {});
  const made = await ended(sidecar);
  const { name } = made.outcome as { name: string };
  await sidecar.stop();
  const plain = await startSidecar({ folder });
  await plain.client.must('insert', { ...TABLE, rows: [{ who: 'later' }] });
  await plain.stop();
  writeConfig(folder, PANEL_ON);

  const restored = await restoreKilledAt(folder, name, 'DROP TABLE');
  expect(await namesIn(folder)).toEqual(NAMES);
  const { undo } = restored.outcome as { undo: string };
  writeConfig(folder, PANEL_ON);
  await restoreKilledAt(folder, undo, 'INSERT INTO "game__kills"');
  expect(await namesIn(folder)).toEqual([...NAMES, 'later']);
});
