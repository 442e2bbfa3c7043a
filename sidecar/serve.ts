import { BackupDesk } from './backup/backup-desk.ts';
import { ContinuousBackup } from './backup/continuous/continuous-backup.ts';
import { backupReport } from './backup-report.ts';
import { keyMarks } from './cluster/key-marks.ts';
import { Neighbours } from './cluster/neighbours.ts';
import { Revocations } from './cluster/revocations.ts';
import type { SidecarConfig } from './config/load-config.ts';
import { drainDeadline } from './data/call-context.ts';
import { CallWatch } from './data/call-watch.ts';
import { createDataHandlers } from './data/handlers.ts';
import type { Engine } from './engine/engine.ts';
import type { EngineLog } from './engine/log.ts';
import { openEngine } from './engine/open.ts';
import { Log, type LogSink, LogTap } from './log.ts';
import type { PanelBase } from './panel/panel-base.ts';
import type { PanelOptions, RunningPanel } from './panel/start-panel.ts';
import { panelGauges } from './panel-gauges.ts';
import { VERSION } from './program-folder.ts';
import { SchemaCatalog } from './schema/catalog.ts';
import { NamespaceGate } from './schema/gate.ts';
import { createSchemaHandlers } from './schema/handlers.ts';
import { Instance } from './security/instance.ts';
import { type ApiOptions, type RunningApi, startApi, type WriteBufferReport } from './start-api.ts';
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
export interface PanelStart extends Pick<PanelOptions, 'preset' | 'serverVfs' | 'serverPid' | 'keeper' | 'isEmbedded'> {
  /** If it cannot listen, the sidecar logs that and serves without it, as it always does if the panel's file cannot be used. */
  readonly isOptional?: boolean;
}

export interface RunningSidecar extends RunningApi {
  readonly engine: Engine;
  readonly backups: BackupDesk;
  /** Null if it is off. */
  readonly panel: RunningPanel | null;
  /** @param keepsServer the game server runs on, for the sidecar after this one */
  stop(keepsServer?: boolean): Promise<void>;
}

/** Parts that every service needs. */
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
  const monotonicNow = options.monotonicNow ?? options.now ?? performance.now.bind(performance);
  const apiLog = new LogTap(sink);
  const log = new Log(apiLog);
  const engineLog: EngineLog = (level, message, fields) => log[level](message, fields);
  const instance = Instance.open(config.dataFolder);
  const engineClocks = { now, ...(options.monotonicNow && { monotonicNow: options.monotonicNow }) };
  const expiryNow = (): number => neighbours.expiryNow;
  const engine = await openEngine(config.database, {
    ...{ log: engineLog, ...engineClocks, expiryNow },
    instance: () => instance.id,
  });
  const keys = keyMarks(config.keys);
  const neighbours = new Neighbours({ instance, engine, version: VERSION, keys, ...engineClocks, log: engineLog });
  const revocations = new Revocations({ engine, kids: config.keys.map(({ kid }) => kid), log: engineLog });
  const base = { config, engine, catalog: new SchemaCatalog(engine, now), now, log: engineLog };
  let writeBehind: RunningWriteBehind | null = null;
  let panel: RunningPanel | null = null;
  let apiAddress: string | null = null;
  let continuous: ContinuousBackup | null = null;
  try {
    continuous = await ContinuousBackup.start(config, process.env, engineLog);
    // Queued writes are applied as soon as the queue is open, and their keys may be known to the others.
    await Promise.all([revocations.begin(), neighbours.lookFirst()]);
    writeBehind = await startWriteBehind({ ...base, expiryNow, instance: () => instance.id });
    const buffer = writeBehind?.buffer ?? null;
    const gate = new NamespaceGate();
    const handlers = createHandlers(base, buffer, gate);
    const calls = new CallWatch();
    const backups = new BackupDesk({
      ...{ ...base, gate, writeBuffer: buffer, continuous },
      ...{ environment: process.env, program: `${process.argv[1]}` },
    });
    const lent = {
      ...base,
      backups,
      neighbours,
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
    const served = {
      ...{ config, engine, log, handlers, neighbours, revocations },
      watch: calls,
      writeBuffer: reportOf(buffer),
      backup: backupReport(config, now, continuous),
      panelGauges: panel === null ? [] : panelGauges(() => panel?.services ?? null),
    };
    const api = await startApi({ ...clocks, monotonicNow, ...served });
    apiAddress = api.address;
    neighbours.begin(api.address);
    log.info('listening', { service: 'api', address: api.address });
    // Only now: a game server that the panel starts calls the API at once.
    panel = await beginPanel(panel, log);
    const parts = { panel, api, neighbours, revocations, writeBehind, engine, log };
    const stop = (keepsServer = false) => {
      backups.stop();
      return stopAll(parts, keepsServer).finally(() => continuous?.stop());
    };
    return { ...api, engine, backups, panel, stop };
  } catch (error) {
    await panel?.stop().catch(() => {});
    await neighbours.stop();
    await revocations.stop();
    await closeBelow(writeBehind, engine);
    await continuous?.stop();
    throw error;
  }
}

/** A quarter of the program, which a sidecar without a panel does not read. */
function panelProgram() {
  return import('./panel/start-panel.ts');
}

/** Null if it is off, or cannot use its file: the database is served all the same. */
async function openPanel(base: PanelBase, { isOptional = false, ...start }: PanelStart): Promise<RunningPanel | null> {
  if (!base.config.panel.enabled) return null;
  const { startPanel, StoreFault } = await panelProgram();
  try {
    return await startPanel({ ...base, ...start });
  } catch (error) {
    if (!isOptional && !(error instanceof StoreFault)) throw error;
    tellNoPanel(new Log(base.log), error);
    return null;
  }
}

async function beginPanel(panel: RunningPanel | null, log: Log): Promise<RunningPanel | null> {
  try {
    await panel?.begin();
    return panel;
  } catch (error) {
    const { StoreFault } = await panelProgram();
    if (!(error instanceof StoreFault)) throw error;
    tellNoPanel(log, error);
    await panel?.stop().catch(() => {});
    return null;
  }
}

function tellNoPanel(log: Log, error: unknown): void {
  const cause = error instanceof Error ? error.message : String(error);
  log.error('there is no panel until the next start; the database is served all the same', { cause });
}

function createHandlers(base: Base, queue: WriteBuffer | null, gate: NamespaceGate) {
  const { config, engine } = base;
  const { statementTimeoutMs } = config.database;
  return {
    ...createDataHandlers({ engine, catalog: base.catalog, gate, queue, limits: config.limits, statementTimeoutMs }),
    ...createSchemaHandlers({
      ...base,
      ...{ gate, statementTimeoutMs },
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

/** Running calls finish first, then queued writes; after that no part can write. */
async function stopAll(parts: Parts, keepsServer: boolean): Promise<void> {
  const { writeBehind, engine, log } = parts;
  try {
    await stopServices(parts, keepsServer);
  } finally {
    await closeBelow(writeBehind, engine);
    log.info('stopped', writeBehind === null ? {} : { queuedWrites: writeBehind.buffer.health().pending });
  }
}

interface Parts {
  readonly panel: RunningPanel | null;
  readonly api: RunningApi;
  readonly neighbours: Neighbours;
  readonly revocations: Revocations;
  readonly writeBehind: RunningWriteBehind | null;
  readonly engine: Engine;
  readonly log: Log;
}

async function stopServices({ panel, api, neighbours, revocations }: Parts, keepsServer: boolean): Promise<void> {
  try {
    // The game server first: it may still have something to save.
    await panel?.stop(keepsServer);
  } finally {
    await api.stop();
    await neighbours.stop();
    await revocations.stop();
  }
}

async function closeBelow(writeBehind: RunningWriteBehind | null, engine: Engine): Promise<void> {
  try {
    await writeBehind?.stop();
  } finally {
    await engine.close();
  }
}
