import { createConnection } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServers, type TestServer, type TestServers } from '#scripts/servers/start-servers.ts';
import { type LogLine, openMysql, within } from '../engine/mysql/world.ts';

/** A server of this file alone, whose settings may be spoilt. */
describe('a server that cannot serve', () => {
  let servers: TestServers;
  let server: TestServer;
  beforeAll(async () => {
    servers = await startServers({ engines: ['mysql'], isPrivate: true });
    if (servers.mysql === undefined) throw new Error(`mysql: ${servers.missing.mysql}`);
    server = servers.mysql;
  });
  afterAll(() => servers.stop());

  async function asAdmin(...statements: string[]): Promise<void> {
    const connection = await createConnection(server.adminUrl);
    try {
      for (const statement of statements) await connection.query(statement);
    } finally {
      await connection.end();
    }
  }

  it('takes too little at once: told with the setting, its value and the value needed, without the password', async () => {
    await asAdmin('SET GLOBAL max_allowed_packet = 1048576');
    try {
      const { password } = new URL(server.url);
      const opening = openMysql(server.url);
      await expect(opening).rejects.toThrow('max_allowed_packet is 1048576 and must be at least 16777216');
      await expect(opening).rejects.not.toThrow(password);
    } finally {
      await asAdmin('SET GLOBAL max_allowed_packet = 16777216');
    }
  });

  it('found only later: calls say database_error, and the log why', async () => {
    await server.stop();
    const log: LogLine[] = [];
    const engine = await openMysql(server.url, log);
    try {
      await server.start();
      await asAdmin('SET GLOBAL max_allowed_packet = 1048576');
      await expect(engine.ping(within(5000))).rejects.toMatchObject({ code: 'database_error' });
      expect(JSON.stringify(log)).toContain('max_allowed_packet is 1048576');
      await asAdmin('SET GLOBAL max_allowed_packet = 16777216');
      await engine.ping(within(5000));
    } finally {
      await engine.close();
    }
  });

  it('a URL that says too little, or what is unknown', async () => {
    const url = new URL(server.url);
    url.pathname = '';
    await expect(openMysql(url.href)).rejects.toThrow('expected the name of a database');
    await expect(openMysql(`${server.url}?sslmode=on`)).rejects.toThrow('got sslmode');
  });
});
