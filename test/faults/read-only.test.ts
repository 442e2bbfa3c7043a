import { createConnection } from 'mysql2/promise';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { excludedEngines } from '#scripts/servers/chosen-engines.ts';
import { type EngineName, startServers, type TestServers } from '#scripts/servers/start-servers.ts';
import { startSidecar, type TestSidecar } from '#support/sidecar.ts';

/** Sets every session of a server to read-only and back, as its administrator. */
type Switch = (adminUrl: string, isReadOnly: boolean) => Promise<void>;

const SWITCHES: Partial<Record<EngineName, Switch>> = {
  postgres: async (adminUrl, isReadOnly) => {
    const admin = new Client({ connectionString: adminUrl });
    await admin.connect();
    await admin.query('SET default_transaction_read_only = off');
    await admin.query(`ALTER SYSTEM SET default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`);
    await admin.query('SELECT pg_reload_conf()');
    await admin.end();
  },
  mysql: async (adminUrl, isReadOnly) => {
    const admin = await createConnection(adminUrl);
    await admin.query(`SET GLOBAL read_only = ${isReadOnly ? 1 : 0}`);
    await admin.end();
  },
};

describe.each(Object.entries(SWITCHES))('a server of %s that takes no writes', (name, switchTo) => {
  const engine = name as EngineName;
  const isExcluded = excludedEngines(process.env).includes(engine);
  let servers: TestServers;
  let sidecar: TestSidecar;

  beforeAll(async () => {
    if (isExcluded) return;
    servers = await startServers({ engines: [engine], isPrivate: true });
    const server = servers[engine];
    if (server === undefined) throw new Error(String(servers.missing[engine]));
    sidecar = await startSidecar({
      database: { settings: { provider: engine, url: server.url }, drop: async () => {} },
    });
  });

  afterAll(async () => {
    await sidecar?.stop();
    await servers?.stop();
  });

  it.skipIf(isExcluded)('is not ready, says why, and is ready again by itself', async () => {
    const ready = async () => {
      const { status, body } = await sidecar.client.get('/readyz');
      return { status, ...(JSON.parse(body) as object) };
    };
    const adminUrl = servers[engine]?.adminUrl ?? '';
    const well = { status: 'ready', database: true };
    await expect.poll(ready, { timeout: 20_000 }).toMatchObject(well);
    await switchTo(adminUrl, true);
    const refused = { status: 'unavailable', database: true, takesNoWrites: 'readOnly' };
    await expect.poll(ready, { timeout: 20_000 }).toEqual(refused);
    expect((await sidecar.client.get('/readyz')).status).toBe(503);
    const { status, database, takesNoWrites } = await sidecar.client.must('health', {});
    expect({ status, database, takesNoWrites }).toEqual({
      status: 'degraded',
      database: true,
      takesNoWrites: 'readOnly',
    });
    await switchTo(adminUrl, false);
    await expect.poll(ready, { timeout: 20_000 }).toMatchObject(well);
  });
});
