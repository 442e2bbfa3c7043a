import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { excludedEngines } from '#scripts/servers/chosen-engines.ts';
import { startServers, type TestServers } from '#scripts/servers/start-servers.ts';
import { startSidecar, type TestSidecar } from '#support/sidecar.ts';

const ROWS = { name: 'rows', primaryKey: ['id'], columns: [{ name: 'id', type: 'int32' }] };
const UNKNOWN = [504, 'database_timeout', expect.stringContaining('the outcome is unknown')];

/**
 * A server that was told to wait for a replica, which is away. It commits at once and then waits; ended by our cancel, it answers
 * with success and a notice (cluster.md, point 9).
 */
describe.skipIf(excludedEngines(process.env).includes('postgres'))(
  'a replica that must have each write is away',
  () => {
    let servers: TestServers;
    let admin: Client;
    let sidecar: TestSidecar;

    beforeAll(async () => {
      servers = await startServers({ engines: ['postgres'], isPrivate: true });
      if (servers.postgres === undefined) throw new Error(String(servers.missing.postgres));
      const { url, adminUrl } = servers.postgres;
      admin = new Client({ connectionString: adminUrl });
      await admin.connect();
      sidecar = await startSidecar({
        config: {
          database: { statementTimeoutMs: 700 },
          writeBehind: { namespaces: { late: {} }, flushIntervalMs: 50 },
        },
        database: { settings: { provider: 'postgres', url, statementTimeoutMs: 700 }, drop: async () => {} },
      });
      for (const namespace of ['live', 'late']) {
        await sidecar.client.must('schema.sync', { namespace, schema: { tables: [ROWS] } });
      }
    });

    afterAll(async () => {
      await sidecar?.stop();
      await admin?.end();
      await servers?.stop();
    });

    /** Resolves when every new commit waits for this replica, or for none. */
    async function waitFor(replica: string): Promise<void> {
      await admin.query('SET synchronous_commit = local');
      await admin.query(`ALTER SYSTEM SET synchronous_standby_names = '${replica}'`);
      await admin.query('SELECT pg_reload_conf()');
      for (;;) {
        const { rows } = await admin.query("SELECT current_setting('synchronous_standby_names') AS now");
        if (rows[0]?.now === replica) return;
      }
    }

    const call = async (operation: string, payload: object) => {
      const { status, code, message } = await sidecar.client.call(operation, payload);
      return [status, code, message];
    };
    /** Statements that ended at their deadline, so far. */
    const timeouts = async () => {
      const { body } = await sidecar.client.get('/metrics');
      return Number(/^sidecar_database_timeouts_total (\d+)$/m.exec(body)?.[1]);
    };
    const idsOf = async (namespace: string) =>
      ((await sidecar.client.must('find', { namespace, table: 'rows' })).rows as { id: number }[]).map(({ id }) => id);

    it('does not acknowledge a write, nor repeat its answer, before the replica has it', async () => {
      const insert = (id: number) => ({ namespace: 'live', table: 'rows', rows: [{ id }], idempotencyKey: `k${id}` });
      const batch = {
        ...{ namespace: 'live', idempotencyKey: 'batch' },
        operations: [{ op: 'insert', table: 'rows', rows: [{ id: 3 }, { id: 4 }] }],
      };
      await waitFor('ANY 1 (nobody)');
      for (let attempt = 1; attempt <= 2; attempt += 1) {
        expect(await call('insert', insert(1))).toEqual(UNKNOWN);
        expect(await call('batch', batch)).toEqual(UNKNOWN);
      }
      expect(await call('insert', { namespace: 'live', table: 'rows', rows: [{ id: 2 }] })).toEqual(UNKNOWN);
      await waitFor('');
      expect(await call('insert', insert(1))).toEqual([200, '', '']);
      expect(await call('batch', batch)).toEqual([200, '', '']);
      expect(await idsOf('live')).toEqual([1, 2, 3, 4]);
    });

    it('keeps queued writes in the journal until the replica has them', async () => {
      await waitFor('ANY 1 (nobody)');
      await sidecar.client.must('insert', { namespace: 'late', table: 'rows', rows: [{ id: 1 }] });
      await sidecar.client.must('insert', { namespace: 'late', table: 'rows', rows: [{ id: 2 }] });
      const before = await timeouts();
      while ((await timeouts()) === before) await setTimeout(20);
      const health = await sidecar.client.must('health', {});
      expect(health.writeBuffer).toMatchObject({ pending: 2 });
      await waitFor('');
      expect(await sidecar.client.must('flush', { namespace: 'late' })).toMatchObject({
        remaining: 0,
        deadLettered: 0,
      });
      expect(await idsOf('late')).toEqual([1, 2]);
    });
  },
);
