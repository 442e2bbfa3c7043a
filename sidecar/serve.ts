import { type ApiOptions, type RunningApi, startApi } from './api/start-api.ts';
import type { SidecarConfig } from './config/load-config.ts';
import { createDataHandlers } from './data/handlers.ts';
import type { Engine, EngineLog } from './engine/engine.ts';
import { openEngine } from './engine/open.ts';
import { Log, type LogSink } from './log.ts';
import { SchemaCatalog } from './schema/catalog.ts';
import { NamespaceGate } from './schema/gate.ts';
import { createSchemaHandlers } from './schema/handlers.ts';
import { lockOwner } from './schema/owner.ts';

/** Clocks, and what only a test sets, are those of the API. */
export interface ServeOptions extends Pick<ApiOptions, 'now' | 'monotonicNow' | 'bootId' | 'nonceCapacity'> {
  readonly config: SidecarConfig;
  readonly log: LogSink;
}

export interface RunningSidecar extends RunningApi {
  readonly engine: Engine;
}

/** The sidecar, from its configuration to the line `listening`: engine, handlers, and the services over them. */
export async function serve(options: ServeOptions): Promise<RunningSidecar> {
  const { config, log: sink, ...clocks } = options;
  const now = options.now ?? Date.now;
  const log = new Log(sink);
  const engineLog: EngineLog = (level, message, fields) => log[level](message, fields);
  const engine = await openEngine(config.database, { log: engineLog, now });
  try {
    const api = await startApi({
      ...clocks,
      config,
      engine,
      log,
      handlers: createHandlers(config, engine, now, engineLog),
    });
    log.info('listening', { service: 'api', address: api.address });
    return { ...api, engine, stop: () => stopAll(api, engine, log) };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

function createHandlers(
  config: SidecarConfig,
  engine: Engine,
  now: () => number,
  log: EngineLog,
): ApiOptions['handlers'] {
  const catalog = new SchemaCatalog(engine, now);
  const gate = new NamespaceGate();
  const { statementTimeoutMs } = config.database;
  const owner = lockOwner(config.file);
  return {
    ...createDataHandlers({ engine, catalog, gate, limits: config.limits, statementTimeoutMs }),
    ...createSchemaHandlers({
      ...{ engine, catalog, gate, owner, now, log, statementTimeoutMs },
      removed: config.schema.removed,
    }),
  };
}

/** What runs finishes first; then nothing is left that could write. */
async function stopAll(api: RunningApi, engine: Engine, log: Log): Promise<void> {
  try {
    await api.stop();
  } finally {
    await engine.close();
    log.info('stopped');
  }
}
