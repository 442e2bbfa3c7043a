import { existsSync } from 'node:fs';
import { JournalWatch } from './cluster/journal-watch.ts';
import type { SidecarConfig } from './config/load-config.ts';
import type { Engine } from './engine/engine.ts';
import type { EngineLog } from './engine/log.ts';
import type { SchemaCatalog } from './schema/catalog.ts';
import { type Clock, SYSTEM_CLOCK } from './write-behind/journal/clock.ts';
import { NODE_DISK } from './write-behind/journal/disk.ts';
import { Journal } from './write-behind/journal/journal.ts';
import { WriteBuffer } from './write-behind/write-buffer.ts';

export interface WriteBehindParts {
  readonly config: SidecarConfig;
  readonly engine: Engine;
  readonly catalog: SchemaCatalog;
  /** Id of this sidecar, which may draw another one. */
  readonly instance: () => string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Epoch milliseconds by which idempotency records have expired. */
  readonly expiryNow: () => number;
  readonly log: EngineLog;
}

export interface RunningWriteBehind {
  readonly buffer: WriteBuffer;
  /** Applies queued writes for at most `drainOnStopMs`; the rest stays in the journal. */
  stop(): Promise<void>;
}

/** Returns null if no namespace is buffered and there is no journal that could hold writes. */
export async function startWriteBehind(parts: WriteBehindParts): Promise<RunningWriteBehind | null> {
  const { config, now, log } = parts;
  const { namespaces, journal: folder } = config.writeBehind;
  if (namespaces.size === 0 && !existsSync(folder)) return null;
  const clock: Clock = { ...SYSTEM_CLOCK, now };
  const { journal, pending } = await Journal.open({ folder, disk: NODE_DISK, clock, log });
  try {
    const buffer = await WriteBuffer.open({
      ...{ engine: parts.engine, catalog: parts.catalog, journal, pending, clock, log },
      expiryNow: parts.expiryNow,
      config: config.writeBehind,
      statementTimeoutMs: config.database.statementTimeoutMs,
    });
    if (namespaces.size > 0) {
      log('info', 'write-behind is on', { namespaces: [...namespaces.keys()].join(', '), journal: folder });
    }
    const watch = new JournalWatch({
      ...{ engine: parts.engine, instance: parts.instance, journal: journal.id },
      waiting: () => buffer.health().pending,
      settle: (deadline) => buffer.settle(deadline),
    });
    watch.begin();
    return { buffer, stop: () => stop(buffer, journal, watch) };
  } catch (error) {
    await journal.close();
    throw error;
  }
}

async function stop(buffer: WriteBuffer, journal: Journal, watch: JournalWatch): Promise<void> {
  try {
    await watch.end();
    await buffer.stop();
    await watch.tellEnd();
  } finally {
    await journal.close();
  }
}
