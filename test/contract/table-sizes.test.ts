import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { openEngine } from '#engine/open.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import { startSidecar, type TestSidecar } from '../support/sidecar.ts';
import { declare } from './data-world.ts';

let sidecar: TestSidecar;
let engine: Engine;

beforeAll(async () => {
  sidecar = await startSidecar();
  const { database } = loadConfig(sidecar.configFile, {});
  engine = await openEngine({ ...database, poolSize: 2 }, { log: () => {}, now: Date.now });
});

afterAll(async () => {
  await engine.close();
  await sidecar.stop();
});

const NAMED = {
  name: 'named',
  primaryKey: ['name'],
  columns: [
    { name: 'name', type: 'string', length: 40 },
    { name: 'body', type: 'text' },
  ],
};
const KEYLESS = { name: 'keyless', columns: [{ name: 'n', type: 'int32' }] };

function sizes(namespace: string, tables: string[]) {
  return engine.tableSizes(namespace, tables, { deadline: performance.now() + 10_000 });
}

it('sizes come in the order of asking; a table grows with what lies in it', async () => {
  const namespace = await declare(sidecar.client, NAMED, KEYLESS);
  const [before] = await sizes(namespace, ['named']);
  const rows = Array.from({ length: 300 }, (_, i) => ({ name: `row ${i}`, body: 'x'.repeat(3000) }));
  await sidecar.client.must('insert', { namespace, table: 'named', rows });
  await sidecar.client.must('insert', { namespace, table: 'keyless', rows: [{ n: 1 }, { n: 2 }] });

  const [keyless, named] = await sizes(namespace, ['keyless', 'named']);

  expect(keyless?.table).toBe('keyless');
  expect(named?.table).toBe('named');
  // An estimate may be as old as the server's last look; a count is exact.
  if (named?.isEstimate === false) expect([keyless?.rows, named.rows]).toEqual([2, 300]);
  else expect(named?.rows === null || (named?.rows ?? -1) >= 0).toBe(true);
  await expect
    .poll(async () => (await sizes(namespace, ['named']))[0]?.bytes ?? 0, { timeout: 20_000 })
    .toBeGreaterThan(before?.bytes ?? 0);
});

it('nothing is known of a table that is not there, and nothing else fails for it', async () => {
  const namespace = await declare(sidecar.client, KEYLESS);
  const [missing, keyless] = await sizes(namespace, ['gone', 'keyless']);
  expect(missing?.rows ?? 0).toBe(0);
  expect(keyless?.bytes).toBeGreaterThanOrEqual(0);
});
