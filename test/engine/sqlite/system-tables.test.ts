import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { systemTables } from '#engine/sql/system-tables.ts';
import { SQLITE_SYSTEM } from '#engine/sqlite/system-tables.ts';

const FILE = fileURLToPath(new URL('../../../sidecar/engine/sqlite/system-tables.json', import.meta.url));

it('system-tables.json is what knex makes of the description; `vitest -u` writes it', async () => {
  await expect(`${JSON.stringify(systemTables(SQLITE_SYSTEM), null, 2)}\n`).toMatchFileSnapshot(FILE);
});
