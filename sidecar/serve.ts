import { type ApiOptions, type RunningApi, startApi, type WriteBufferReport } from './api/start-api.ts';
import type { SidecarConfig } from './config/load-config.ts';
import { CallWatch } from './data/call-watch.ts';
import { drainDeadline } from './data/drain-deadline.ts';
import { createDataHandlers } from './data/handlers.ts';
import type { Engine, EngineLog } from './engine/engine.ts';
import { openEngine } from './engine/open.ts';
import { Log, type LogSink, LogTap } from './log.ts';
import type { PanelBase } from './panel/panel-base.ts';
import { type PanelOptions, type RunningPanel, startPanel } from './panel/start-panel.ts';
import { SchemaCatalog } from './schema/catalog.ts';
import { NamespaceGate } from './schema/gate.ts';
import { createSchemaHandlers } from './schema/handlers.ts';
import { lockOwner } from './schema/owner.ts';
import { type RunningWriteBehind, startWriteBehind } from './start-write-behind.ts';
import type { WriteBuffer } from './write-behind/write-buffer.ts';
import { writeBufferGauges } from './write-buffer-gauges.ts';

/** Clocks, and what only a test sets, are those of the API. */
export interface ServeOptions extends Pick<ApiOptions, 'now' | 'monotonicNow' | 'bootId' | 'nonceCapacity'> {
  readonly config: SidecarConfig;
  readonly log: LogSink;
  readonly panel?: PanelStart;
}

/** How this start differs for the panel. */
export interface PanelStart extends Pick<PanelOptions, 'preset' | 'serverVfs' | 'serverPid'> {
  /** Where it cannot listen, or its accounts cannot be opened, that is told, and the sidecar serves without it. */
  readonly isOptional?: boolean;
}

export interface RunningSidecar extends RunningApi {
  readonly engine: Engine;
  /** Null where it is off. */
  readonly panel: RunningPanel | null;
}

/** What all services stand on. */
interface Base {
  readonly config: SidecarConfig;
  readonly engine: Engine;
  readonly catalog: SchemaCatalog;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly log: EngineLog;
}

/** The sidecar, from its configuration to the line `listening`: engine, queue, handlers, and the services over them. */
export async function serve(options: ServeOptions): Promise<RunningSidecar> {
  const { config, log: sink, panel: panelStart = {}, ...clocks } = options;
  const now = options.now ?? Date.now;
  const monotonicNow = options.monotonicNow ?? options.now ?? (() => performance.now());
  const apiLog = new LogTap(sink);
  const log = new Log(apiLog);
  const engineLog: EngineLog = (level, message, fields) => log[level](message, fields);
  const engine = await openEngine(config.database, { log: engineLog, now });
  const base = { config, engine, catalog: new SchemaCatalog(engine, now), now, log: engineLog };
  let writeBehind: RunningWriteBehind | null = null;
  let panel: RunningPanel | null = null;
  let apiAddress: string | null = null;
  try {
    writeBehind = await startWriteBehind(base);
    const buffer = writeBehind?.buffer ?? null;
    const gate = new NamespaceGate();
    const handlers = createHandlers(base, buffer, gate);
    const calls = new CallWatch();
    const lent = {
      ...base,
      monotonicNow,
      handlers,
      gate,
      calls,
      writeBuffer: buffer,
      log: sink,
      apiLog,
      apiAddress: () => apiAddress,
    };
    panel = await openPanel(lent, panelStart);
    const served = { config, engine, log, handlers, watch: calls, writeBuffer: reportOf(buffer) };
    const api = await startApi({ ...clocks, monotonicNow, ...served });
    apiAddress = api.address;
    log.info('listening', { service: 'api', address: api.address });
    // Only now: a game server that the panel starts calls the API at once.
    await panel?.begin();
    return { ...api, engine, panel, stop: () => stopAll(panel, api, writeBehind, engine, log) };
  } catch (error) {
    await panel?.stop();
    await closeBelow(writeBehind, engine);
    throw error;
  }
}

/** Null where it is off. */
async function openPanel(base: PanelBase, { isOptional = false, ...start }: PanelStart): Promise<RunningPanel | null> {
  if (!base.config.panel.enabled) return null;
  try {
    return await startPanel({ ...base, ...start });
  } catch (error) {
    if (!isOptional) throw error;
    const cause = error instanceof Error ? error.message : String(error);
    new Log(base.log).error('there is no panel; the database is served all the same', { cause });
    return null;
  }
}

function createHandlers(base: Base, queue: WriteBuffer | null, gate: NamespaceGate) {
  const { config, engine } = base;
  const { statementTimeoutMs } = config.database;
  return {
    ...createDataHandlers({ engine, catalog: base.catalog, gate, queue, limits: config.limits, statementTimeoutMs }),
    ...createSchemaHandlers({
      ...base,
      ...{ gate, statementTimeoutMs },
      owner: lockOwner(config.file),
      removed: config.schema.removed,
      drain: async (namespace, call) => {
        if (queue?.mustDrain(namespace)) await queue.drain(namespace, drainDeadline(call));
      },
      // At once, and not with the first write: the database may be away by then. It costs only that write if it fails.
      onSynced: async (namespace, call) => {
        if (queue?.isBuffered(namespace)) await base.catalog.get(namespace, call).catch(() => {});
      },
    }),
  };
}

/** Told of while it is on, and while something is left of it. */
function reportOf(buffer: WriteBuffer | null): WriteBufferReport | null {
  if (buffer === null) return null;
  const health = () => {
    const known = buffer.health();
    return known.enabled || known.pending > 0 ? known : undefined;
  };
  return { health, gauges: writeBufferGauges(() => buffer.figures()) };
}

/** What runs finishes first, then what is queued; then nothing is left that could write. */
async function stopAll(
  panel: RunningPanel | null,
  api: RunningApi,
  writeBehind: RunningWriteBehind | null,
  engine: Engine,
  log: Log,
): Promise<void> {
  try {
    // The game server first: it may still have something to save.
    await panel?.stop();
    await api.stop();
  } finally {
    await closeBelow(writeBehind, engine);
    log.info('stopped', writeBehind === null ? {} : { queuedWrites: writeBehind.buffer.health().pending });
  }
}

async function closeBelow(writeBehind: RunningWriteBehind | null, engine: Engine): Promise<void> {
  try {
    await writeBehind?.stop();
  } finally {
    await engine.close();
  }
}
