import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { EmbeddedFx } from '../support/embedded-fx.ts';
import { gone, SHIPPED } from './embedded-server.ts';

const SLOW_MS = 120_000;
const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function newServer(folder?: string): EmbeddedFx {
  const server = new EmbeddedFx((resources) => {
    cpSync(SHIPPED, join(resources, 'db_connector'), { recursive: true });
  }, folder);
  closing.push(() => server.close());
  return server;
}

describe('db_connector on FXServer with nothing configured', { timeout: SLOW_MS }, () => {
  it('serves the calls that resources make at once, keeps its data beside resources/, and ends its sidecar', async () => {
    const server = newServer();
    server.startUp();
    expect(await server.line(/\] synced/)).toMatch(/ok$/);
    expect(await server.ask('mark 1', /\] mark 1/)).toMatch(/ok$/);
    expect(await server.ask('marks', /\] marks/)).toMatch(/marks 1$/);
    expect(readdirSync(server.fx.root).toSorted()).toEqual(['db_connector_data', 'resources']);
    expect(readdirSync(server.data).toSorted()).toEqual(['data', 'logs', 'secrets', 'sidecar.json']);
    const child = server.sidecar;

    const from = server.fx.lines.length;
    server.fx.exec('restart db_connector');
    await gone(child);
    await server.line(/the sidecar of this server is up/, from);
    expect(await server.ask('marks', /\] marks/)).toMatch(/marks 1$/);
    const next = server.sidecar;
    server.fx.exec('stop db_connector');
    await gone(next);
  });

  it('without the permission says in one line which one is missing', async () => {
    const server = newServer();
    server.startUp(['ensure db_connector', 'ensure shop']);
    const line = await server.line(/may not start/);
    expect(line).toContain('put the line "add_unsafe_child_process_permission db_connector" into server.cfg');
    expect(await server.line(/\] synced/)).toMatch(/unavailable .*add_unsafe_child_process_permission db_connector/);
    expect(server.fx.plainLines.filter((each) => /may not start/.test(each) && !/synced/.test(each))).toHaveLength(1);
    expect(existsSync(server.data)).toBe(false);
  });

  it('takes folder and Node.js from convars, which no upgrade replaces', async () => {
    const server = newServer('elsewhere');
    server.startUp([
      'set db_connector_folder elsewhere',
      'set db_connector_node /nowhere/node',
      'add_unsafe_child_process_permission db_connector',
      'ensure db_connector',
    ]);
    expect(await server.line(/needs Node\.js/)).toMatch(
      /"\/nowhere\/node" was not found: .* \(set db_connector_node "…" in server\.cfg\)/,
    );
    server.fx.exec(`set db_connector_node ${process.execPath}`);
    server.fx.exec('db-reload');
    await server.line(/the sidecar of this server is up/);
    expect(existsSync(join(server.data, 'data/database.sqlite'))).toBe(true);
    expect(existsSync(join(server.fx.root, 'db_connector_data'))).toBe(false);
  });
});
