import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { TestServer } from '#scripts/servers/start-servers.ts';
import { callApi } from '../call-api.ts';
import { declareItems, NAMESPACE } from '../engines/items.ts';
import { type MeasuredEngine, withSidecar } from '../engines/measure-engines.ts';
import { createPayloads, QUEUED_NAMESPACE } from '../payloads.ts';
import { makeFolder } from '../prepare.ts';
import { run, start } from '../processes.ts';
import { Scenarios, type Served } from '../scenarios.ts';

/** A load above every limit must not be refused in a measurement. */
const ROOMY = { maxPending: 10_000_000, maxJournalMegabytes: 100_000, namespaces: { [QUEUED_NAMESPACE]: {} } };

/** A database below a sidecar that buffers one namespace and not the other. */
export interface QueueWorld {
  readonly pid: number;
  readonly scenarios: Scenarios;
  /** Writes that wait, over all namespaces. */
  pending(): Promise<number>;
  /** Seconds until nothing waits, and how many writes that were. */
  drain(): Promise<{ seconds: number; writes: number }>;
  /** The same requests against Fastify that verifies, does nothing, and signs. */
  bareSigned(): Promise<Served>;
  /** Rows a second in batches through the bare driver. */
  bareRows(seconds: number): Promise<number>;
  stopDatabase(): Promise<void>;
  startDatabase(): Promise<void>;
}

export async function inQueueWorld<T>(
  engine: MeasuredEngine,
  server: TestServer | undefined,
  seconds: number,
  writeBehind: object,
  work: (world: QueueWorld) => Promise<T>,
): Promise<T> {
  const settings =
    engine === 'sqlite' ? { provider: engine, file: 'data/database.sqlite' } : { provider: engine, url: server?.url };
  const { folder, secret } = makeFolder(settings, { ...ROOMY, ...writeBehind });
  try {
    return await withSidecar(folder, async (port, pid) => {
      for (const namespace of [NAMESPACE, QUEUED_NAMESPACE]) await declareItems(port, secret, namespace);
      const scenarios = new Scenarios({ folder, port, pid, secret, seconds });
      const ask = (path: string, payload: object) => callApi(port, secret, path, payload);
      return work({
        pid,
        scenarios,
        ...queueCalls(ask),
        ...bareOnes(folder, settings, scenarios),
        ...switchOf(folder, server),
      });
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function queueCalls(ask: (path: string, payload: object) => Promise<unknown>): Pick<QueueWorld, 'pending' | 'drain'> {
  async function pending(): Promise<number> {
    const { writeBuffer } = (await ask('/v1/health', {})) as { writeBuffer: { pending: number } };
    return writeBuffer.pending;
  }
  return {
    pending,
    async drain() {
      const [writes, startedAt] = [await pending(), performance.now()];
      for (;;) {
        const { remaining } = (await ask('/v1/data/flush', { namespace: QUEUED_NAMESPACE })) as { remaining: number };
        if (remaining === 0) return { seconds: (performance.now() - startedAt) / 1000, writes };
      }
    },
  };
}

function bareOnes(folder: string, settings: object, scenarios: Scenarios): Pick<QueueWorld, 'bareSigned' | 'bareRows'> {
  return {
    async bareSigned() {
      const { path } = createPayloads('insertQueued');
      const secretFile = join(folder, 'secrets/local.secret');
      const server = start(['scripts/bench/write-behind/signed-server.ts', path, secretFile], join(folder, 'bare.log'));
      try {
        const port = await server.until((line) => Number(line));
        return await scenarios.load('insertQueued', { port }, server.process.pid);
      } finally {
        await server.stop();
      }
    },
    async bareRows(seconds) {
      const file = join(folder, 'bare.json');
      const place = 'file' in settings ? { file: join(folder, String(settings.file)) } : {};
      writeFileSync(file, JSON.stringify({ ...settings, ...place }), { mode: 0o600 });
      return Number(await run(['scripts/bench/write-behind/bare-batches.ts', file, String(seconds)]));
    },
  };
}

/** A server is stopped. SQLite has none: another program holds the database, and no write gets in. */
function switchOf(folder: string, server: TestServer | undefined): Pick<QueueWorld, 'stopDatabase' | 'startDatabase'> {
  if (server !== undefined) return { stopDatabase: () => server.stop(), startDatabase: () => server.start() };
  let holder: Database.Database | undefined;
  return {
    async stopDatabase() {
      holder = new Database(join(folder, 'data/database.sqlite'), { timeout: 5000 });
      holder.exec('BEGIN IMMEDIATE');
    },
    async startDatabase() {
      holder?.close();
    },
  };
}
