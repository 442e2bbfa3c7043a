import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LeaseLostError } from '#engine/cluster/leases.ts';
import { CrashingSessions, type SchemaWorld, schemaWorld, sync } from './schema-world.ts';

let world: SchemaWorld;

beforeAll(async () => {
  world = await schemaWorld();
});

afterAll(async () => {
  await world.drop();
});

const ID = { name: 'id', type: 'int64' };
const ADDED = { name: 'added', type: 'int32', default: 1 };
const declared = (...columns: object[]) => ({ tables: [{ name: 't', primaryKey: ['id'], columns: [ID, ...columns] }] });

/** Another sidecar, of another node, has taken the lease and ended the change. */
async function endElsewhere(namespace: string): Promise<void> {
  await world.sql("UPDATE _locks SET owner = 'other.token' WHERE namespace = ?", [namespace]);
  await world.sql(`ALTER TABLE ${namespace}__t ADD COLUMN added INT NOT NULL DEFAULT 1`);
  await world.sql('UPDATE _schemas SET pending = NULL WHERE namespace = ?', [namespace]);
}

/** A sidecar that is stopped before the first statement with this text, until another one has done its work. */
async function stoppedBefore(namespace: string, part: string): Promise<CrashingSessions> {
  await sync(world.calls(), namespace, declared());
  await world.sql(`INSERT INTO ${namespace}__t VALUES (7)`);
  const sessions = new CrashingSessions(world.url);
  let isOver = false;
  sessions.before = async (text) => {
    if (isOver || !text.includes(part)) return;
    isOver = true;
    await endElsewhere(namespace);
  };
  await expect(sync(world.calls(sessions), namespace, declared(ADDED))).rejects.toThrow(LeaseLostError);
  expect(isOver).toBe(true);
  return sessions;
}

describe('a sidecar that has lost its lease', () => {
  it('leaves a table to all, which it took away too late', async () => {
    await stoppedBefore('late', 'TO `_away_');
    expect(await world.sql('SELECT id, added FROM late__t')).toEqual([{ id: '7', added: 1 }]);
  });

  it('takes none away that it has looked for before', async () => {
    const { statements } = await stoppedBefore('looked', 'table_name LIKE');
    expect(statements.filter((text) => text.startsWith('RENAME TABLE'))).toEqual([]);
    expect(await world.sql('SELECT id, added FROM looked__t')).toEqual([{ id: '7', added: 1 }]);
  });
});
