import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  chosenEngines,
  isNamedAsProvider,
  isServerEngine,
  type Provider,
  urlVariableOf,
} from '#scripts/servers/chosen-engines.ts';
import { runBackup } from '#sidecar/commands/backup.ts';
import { copyIo } from '../support/copy-io.ts';
import { freshDatabase } from '../support/databases.ts';
import { startSidecar, type TestSidecar } from '../support/sidecar.ts';
import { testFolder } from '../support/test-folder.ts';

/** Each step goes into the one table and then into the other, so at every moment the first is at most one row ahead. */

const TABLES = ['a_first', 'b_second'].map((name) => ({
  name,
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int32' },
    { name: 'filler', type: 'string', length: 400, nullable: true },
  ],
}));
const ROWS_BEFORE = 3000;

async function databaseOn(engine: Provider) {
  if (!isServerEngine(engine)) return undefined;
  const { url, drop } = await freshDatabase(engine, process.env[urlVariableOf(engine)] as string);
  return { settings: { provider: engine, url }, drop };
}

async function fill({ client }: TestSidecar): Promise<void> {
  await client.must('schema.sync', { namespace: 'game', schema: { tables: TABLES } });
  for (const { name } of TABLES) {
    for (let from = 0; from < ROWS_BEFORE; from += 1000) {
      const rows = Array.from({ length: 1000 }, (_, i) => ({ id: from + i, filler: 'x'.repeat(400) }));
      await client.must('insert', { namespace: 'game', table: name, rows });
    }
  }
}

it.each(chosenEngines(process.env).filter(isNamedAsProvider))(
  'on %s it is the database at one moment, while others write',
  { timeout: 120_000 },
  async (engine) => {
    const folder = testFolder();
    const database = await databaseOn(engine);
    const sidecar = await startSidecar({ folder, ...(database === undefined ? {} : { database }) });
    await fill(sidecar);
    const { snapshots } = sidecar.capabilities;
    const run = copyIo();
    let isOver = false;
    const backup = runBackup(['--config', sidecar.configFile, '--json'], run.io).finally(() => {
      isOver = true;
    });
    let steps = 0;
    while (!isOver) {
      for (const { name: table } of TABLES) {
        const payload = { namespace: 'game', table, rows: [{ id: ROWS_BEFORE + steps }] };
        let answer = await sidecar.client.call('insert', payload);
        if (snapshots) expect(answer.code).toBe('');
        while (answer.code === 'sync_in_progress') answer = await sidecar.client.call('insert', payload);
        expect(answer.code).toBe('');
      }
      steps += 1;
    }
    expect(await backup).toBe(true);
    expect(steps).toBeGreaterThan(0);
    const { path } = JSON.parse(run.lines.join('')) as { path: string };
    const { namespaces } = JSON.parse(readFileSync(join(path, 'manifest.json'), 'utf8')) as {
      namespaces: { places: { rows: number }[] }[];
    };
    const [first = 0, second = 0] = (namespaces[0]?.places ?? []).map(({ rows }) => rows);
    expect(second).toBeGreaterThanOrEqual(ROWS_BEFORE);
    expect([0, 1]).toContain(first - second);
    await sidecar.stop();
    await database?.drop();
  },
);
