import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StandaloneProcess } from './standalone-process.ts';

export const SHIPPED = fileURLToPath(new URL('../../dist/db_connector', import.meta.url));

const SCHEMA = `Q.Schema(Q.Table('marks', [Q.Int64('id')], { primaryKey: ['id'] }))`;

/**
 * A bundle that calls at once when it starts, as bundles do, and then by command: `mark N` inserts, `storm FIRST COUNT`
 * inserts one after another and says each one that was acknowledged, `marks` lists.
 */
const SHOP = `import { Database, Q } from '../db_connector/helper.js';
export default function start(host) {
  const db = new Database(host);
  const insert = (id) => db.async.Insert('game', 'marks', { id });
  const say = (what, result) => host.log(what + ' ' + (result.State === 'ok' ? 'ok' : result.Code + ' ' + db.ErrorMessage(result)));
  db.Sync('game', ${SCHEMA}, (result) => say('synced', result));
  host.commands.register('mark', 'inserts', async ([id]) => say('mark ' + id, await insert(Number(id))));
  host.commands.register('storm', 'inserts many', async ([first, count]) => {
    for (let id = Number(first); id < Number(first) + Number(count); id++) {
      const result = await insert(id);
      if (result.State === 'ok') host.log('acknowledged ' + id);
    }
    host.log('storm over');
  });
  host.commands.register('burst', 'counts at once', async ([count]) => {
    const results = Array.from({ length: Number(count) }, () => db.async.Count('game', 'marks'));
    host.log('burst given');
    const codes = {};
    for (const { State, Code } of await Promise.all(results)) codes[Code || State] = (codes[Code || State] ?? 0) + 1;
    host.log('burst ' + JSON.stringify(codes));
  });
  host.commands.register('marks', 'lists', async () => {
    const result = await db.async.Find('game', 'marks', {});
    host.log('marks ' + db.Rows(result).map((row) => row.id).join(','));
  });
}
`;

/** A standalone server with the shipped connector and nothing configured. */
export class EmbeddedServer extends StandaloneProcess {
  /** @param install puts the connector into the folder for bundles */
  constructor(install = (bundles: string) => cpSync(SHIPPED, join(bundles, 'db_connector'), { recursive: true })) {
    super();
    install(join(this.root, 'bundles'));
    this.bundle('shop', SHOP, { dependencies: ['db_connector'] });
  }

  get vfs(): string {
    return join(this.root, 'vfs');
  }

  /** Process id of the sidecar. */
  get sidecar(): number {
    return (JSON.parse(readFileSync(join(this.vfs, 'data/embedded.json'), 'utf8')) as { pid: number }).pid;
  }

  /** Ids that are in the database. */
  async marks(): Promise<number[]> {
    const line = await this.ask('marks', /\] marks /);
    return (/marks (.*)$/.exec(line)?.[1] ?? '').split(',').filter(Boolean).map(Number);
  }
}

/** Resolves when the process is gone, as a zombie too: its parent here may be a container's first process, which reaps nothing. */
export async function gone(pid: number): Promise<void> {
  const giveUpAt = performance.now() + 60_000;
  while (isRunning(pid)) {
    if (performance.now() > giveUpAt) throw new Error(`process ${pid} still runs`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const status = `/proc/${pid}/stat`;
  return !existsSync(status) || !/^\d+ \(.*\) [ZX]/s.test(readFileSync(status, 'utf8'));
}
