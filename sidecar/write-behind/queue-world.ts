import type { WriteBehindConfig } from '../config/write-behind.ts';
import type { Engine } from '../engine/engine.ts';
import type { EngineLog } from '../engine/log.ts';
import type { SchemaCatalog } from '../schema/catalog.ts';
import type { Clock } from './journal/clock.ts';
import type { Journal } from './journal/journal.ts';

export type QueueEngine = Pick<Engine, 'queues' | 'capabilities' | 'schemas'>;

/** Parts of the process that its queues use. */
export interface QueueWorld {
  readonly engine: QueueEngine;
  readonly catalog: SchemaCatalog;
  /** Open; the opener closes it. */
  readonly journal: Journal;
  readonly config: WriteBehindConfig;
  readonly statementTimeoutMs: number;
  readonly clock: Clock;
  /** Epoch milliseconds by which idempotency records have expired; default: by the clock. */
  readonly expiryNow?: () => number;
  readonly log: EngineLog;
  /** 0 to 1, for jitter. */
  readonly random: () => number;
}
