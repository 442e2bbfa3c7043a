import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { describe, expect, it } from 'vitest';
import {
  chosenEngines,
  isNamedAsProvider,
  isServerEngine,
  type Provider,
  urlVariableOf,
} from '#scripts/servers/chosen-engines.ts';
import { runImport } from '#sidecar/commands/import.ts';
import { writeConfig } from '../support/config-folder.ts';
import { copyIo } from '../support/copy-io.ts';
import { freshDatabase } from '../support/databases.ts';
import { expectTables, FRAMEWORKS, type FrameworkTable } from '../support/frameworks.ts';
import { testFolder } from '../support/test-folder.ts';

const ENGINES = chosenEngines(process.env).filter(isNamedAsProvider);

/** An empty database of the engine. */
async function emptyDatabase(engine: Provider, folder: string) {
  if (!isServerEngine(engine)) {
    return { settings: { provider: engine, file: join(folder, 'database.sqlite') }, drop: async () => undefined };
  }
  const { url, drop } = await freshDatabase(engine, String(process.env[urlVariableOf(engine)]));
  return { settings: { provider: engine, url }, drop };
}

describe.each(Object.entries(FRAMEWORKS))('the MySQL database of a server with %s', (_, tables) => {
  it.each(ENGINES)('comes into %s', async (engine) => {
    const source = await freshDatabase('mysql', String(process.env.TEST_MYSQL_URL));
    const folder = testFolder();
    const target = await emptyDatabase(engine, folder);
    try {
      await fill(source.url, tables);
      const config = writeConfig(folder, {}, target.settings);
      const run = copyIo();
      run.io.environment.GAME_URL = source.url;
      const place = ['--namespace', 'game', '--config', config, '--out', join(folder, 'proposal')];
      expect(await runImport(['--url-env', 'GAME_URL', ...place], run.io)).toBe(true);
      await expectTables({ folder, settings: target.settings }, 'game', tables);
    } finally {
      await source.drop();
      await target.drop();
    }
  });
});

async function fill(url: string, tables: readonly FrameworkTable[]): Promise<void> {
  const connection = await createConnection({ uri: url, charset: 'utf8mb4' });
  try {
    await connection.query('ALTER DATABASE CHARACTER SET utf8mb4');
    // As a game server sets its session: rows that stay, ids from 1.
    await connection.query(
      'SET SESSION autocommit = 1, SESSION auto_increment_increment = 1, SESSION auto_increment_offset = 1',
    );
    for (const { declared: table, mysql, rows } of tables) {
      await connection.query(`CREATE TABLE \`${table.name}\` (${mysql}) CHARACTER SET utf8mb4`);
      for (const row of rows) {
        const names = Object.keys(row);
        const values = Object.values(row).map(toMysql);
        const into = `\`${table.name}\` (${names.map((name) => `\`${name}\``).join()})`;
        await connection.query(`INSERT INTO ${into} VALUES (${names.map(() => '?').join()})`, values);
      }
    }
  } finally {
    await connection.end();
  }
}

function toMysql(value: unknown): unknown {
  if (typeof value === 'object') return JSON.stringify(value);
  return /^\d{4}-\d\d-\d\dT/.test(String(value)) ? String(value).slice(0, -1).replace('T', ' ') : value;
}
