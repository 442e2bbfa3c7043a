import type { WriteBehindConfig } from '../config/write-behind.ts';
import type { Engine } from '../engine/engine.ts';
import type { EngineLog } from '../engine/log.ts';
import type { SchemaCatalog } from '../schema/catalog.ts';
import type { Capacity } from './capacity.ts';
import type { Clock } from './journal/clock.ts';
import type { Journal } from './journal/journal.ts';
import type { LetterCount } from './letter-count.ts';
import type { RecentEntries } from './recent-entries.ts';

export type QueueEngine = Pick<Engine, 'queues' | 'capabilities' | 'schemas'>;

/** What all queues of a process share. */
export interface QueueWorld {
  readonly engine: QueueEngine;
  readonly catalog: SchemaCatalog;
  readonly journal: Journal;
  readonly config: WriteBehindConfig;
  readonly statementTimeoutMs: number;
  readonly clock: Clock;
  readonly log: EngineLog;
  /** 0 to 1. */
  readonly random: () => number;
  readonly capacity: Capacity;
  readonly recent: RecentEntries;
  readonly letters: LetterCount;
  readonly tally: Tally;
  /** `flushAtPending` is reached: no queue waits for its time. */
  readonly wakeAll: () => void;
}

/** What was done since the start, over all namespaces. */
export interface Tally {
  applied: number;
  deadLettered: number;
  batches: number;
  lastBatchEntries: number;
  lastBatchMs: number;
}
