import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { callApi } from './call-api.ts';
import { EVENTS, NAMESPACE, THINGS } from './payloads.ts';

const ROWS_PER_REQUEST = 1000;

export interface BenchFolder {
  readonly folder: string;
  readonly secret: string;
}

/** In the repository's own folder, so that the loop of commits and the sidecar are on one file system. */
export function makeFolder(
  database: object = { provider: 'sqlite' },
  writeBehind: object = {},
  api: object = {},
): BenchFolder {
  const cache = fileURLToPath(new URL('../../.cache', import.meta.url));
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'bench-'));
  const secret = randomBytes(32).toString('base64url');
  mkdirSync(join(folder, 'secrets'));
  writeFileSync(join(folder, 'secrets/local.secret'), secret, { mode: 0o600 });
  const key = { secretFile: 'secrets/local.secret', operations: ['*'], namespaces: ['*'] };
  const config = {
    api: { port: 0, ...api },
    panel: { enabled: false },
    database,
    keys: [
      { ...key, kid: 'local' },
      { ...key, kid: 'scanner' },
    ],
    // A benchmark asks for more than any server would: the limits are out of its way.
    limits: { perKeyPerSecond: 1_000_000, perAddressPerSecond: 1_000_000 },
    writeBehind,
  };
  writeFileSync(join(folder, 'sidecar.json'), JSON.stringify(config, null, 2), { mode: 0o600 });
  return { folder, secret };
}

const column = (name: string, type: string, more: object = {}) => ({ name, type, ...more });

function table(name: string): object {
  return {
    name,
    primaryKey: ['id'],
    columns: [
      column('id', 'int64', { autoIncrement: true }),
      column('name', 'string', { length: 60 }),
      column('amount', 'decimal', { precision: 18, scale: 2 }),
      column('note', 'string', { length: 200 }),
    ],
  };
}

async function fill(port: number, secret: string, name: string, count: number): Promise<void> {
  for (let done = 0; done < count; done += ROWS_PER_REQUEST) {
    const rows = Array.from({ length: ROWS_PER_REQUEST }, (_, index) => ({
      name: `${name} ${done + index}`,
      amount: (done + index) / 4,
      note: `row ${done + index} of ${count}, with some text after it as real rows have`,
    }));
    await callApi(port, secret, '/v1/data/insert', { namespace: NAMESPACE, table: name, rows });
  }
}

/** Declares the tables and fills them through the API itself; `events` takes the longest. */
export async function prepareTables(port: number, secret: string, events = EVENTS): Promise<void> {
  const schema = { tables: ['things', 'events', 'inserts'].map(table) };
  await callApi(port, secret, '/v1/schema/sync', { namespace: NAMESPACE, schema });
  await fill(port, secret, 'things', THINGS);
  await fill(port, secret, 'events', events);
}
