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

  it('drops no table that was declared again', async () => {
    await sync(world.calls(), 'again', declared());
    const sessions = new CrashingSessions(world.url);
    const declaredAgain = once(async () => {
      await world.sql("UPDATE _locks SET owner = 'other.token' WHERE namespace = 'again'");
      await world.sql("UPDATE _schemas SET pending = NULL WHERE namespace = 'again'");
      await world.sql('INSERT INTO again__t VALUES (7)');
    });
    sessions.before = async (text) => {
      if (text.startsWith('SELECT table_comment')) await declaredAgain();
    };
    await expect(sync(world.calls(sessions), 'again', { tables: [] }, 'drop')).rejects.toThrow(LeaseLostError);
    expect(await world.sql('SELECT id FROM again__t')).toEqual([{ id: '7' }]);
  });

  it('drops no values that another one has put into quarantine', async () => {
    const two = ['a', 'b'].map((name) => ({ name, type: 'int32' }));
    await sync(world.calls(), 'kept', declared(...two));
    await world.sql('INSERT INTO kept__t VALUES (7, 1, 2)');
    const sessions = new CrashingSessions(world.url);
    const endedElsewhere = once(async () => {
      await world.sql("UPDATE _locks SET owner = 'other.token' WHERE namespace = 'kept'");
      const [{ id } = {}] = await world.sql(
        "SELECT id FROM _quarantine WHERE namespace = 'kept' AND column_name = 'b'",
      );
      await world.sql(`CREATE TABLE _q${id}_kept__t__b (k0 BIGINT, value INT)`);
      await world.sql(`INSERT INTO _q${id}_kept__t__b VALUES (7, 2)`);
      const away =
        "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE '%away%'";
      const [{ name } = {}] = await world.sql(away);
      await world.sql(`ALTER TABLE ${name} DROP COLUMN a, DROP COLUMN b, RENAME TO kept__t`);
      await world.sql("UPDATE _schemas SET pending = NULL WHERE namespace = 'kept'");
    });
    let isCopied = false;
    sessions.before = async (text) => {
      if (isCopied) await endedElsewhere();
      isCopied ||= /^INSERT INTO `_q\d+_kept__t__a`/.test(text);
    };
    await expect(sync(world.calls(sessions), 'kept', declared())).rejects.toThrow(LeaseLostError);
    const [{ id } = {}] = await world.sql("SELECT id FROM _quarantine WHERE namespace = 'kept' AND column_name = 'b'");
    expect(await world.sql(`SELECT value FROM _q${id}_kept__t__b`)).toEqual([{ value: 2 }]);
  });
});

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | null = null;
  return () => {
    done ??= work();
    return done;
  };
}
