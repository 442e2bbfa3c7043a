import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine } from '../engine/engine.ts';
import type { EngineLog } from '../engine/log.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';
import { writeMoveMark } from '../schema/move-mark.ts';
import { NamespaceLock } from '../schema/namespace-lock.ts';
import { patiently, statementBounds } from './patience.ts';
import { MoveRefused } from './report.ts';
import { growRevision, storedSchema } from './revision.ts';

/** A mark that was not renewed for so long belongs to a copy that is gone, and writes go on. */
const LIFETIME_MS = 30_000;
const RENEW_EVERY_MS = 3000;

export interface HoldOptions {
  readonly engine: Engine;
  /** Owner of the lock. */
  readonly owner: string;
  readonly log: EngineLog;
}

/** The lock of a run that was cut off expires after 10 s. */
const LOCK_WAIT_MS = 12_000;
const LOCK_PAUSE_MS = 500;

/**
 * Waits for a lock that its owner has left behind.
 * @throws MoveRefused if another process still holds it
 */
export async function lockForMove(namespace: string, options: HoldOptions): Promise<NamespaceLock> {
  const giveUpAt = performance.now() + LOCK_WAIT_MS;
  for (;;) {
    const lock = await patiently(() =>
      NamespaceLock.acquire(namespace, { ...options, now: Date.now }, statementBounds().deadline),
    );
    if (lock !== null) return lock;
    if (performance.now() > giveUpAt) {
      throw new MoveRefused(`namespace ${namespace} is locked: a schema sync or another copy is running`);
    }
    await sleep(LOCK_PAUSE_MS);
  }
}

/** Keeps a namespace as it is while it is read: no sync, and no write of a sidecar that runs on the database. */
export class SourceHold {
  readonly #namespace: string;
  readonly #engine: Engine;
  readonly #lock: NamespaceLock;
  readonly #timer: NodeJS.Timeout;
  #until: number;
  /** Never rejects. */
  #renewal: Promise<void> = Promise.resolve();
  #wasLost = false;

  private constructor(namespace: string, engine: Engine, lock: NamespaceLock, until: number) {
    this.#namespace = namespace;
    this.#engine = engine;
    this.#lock = lock;
    this.#until = until;
    this.#timer = setInterval(() => {
      this.#renewal = this.#renewal.then(() => this.#renew());
    }, RENEW_EVERY_MS);
  }

  /**
   * Returns the schema of the namespace too, as it stays.
   * @throws MoveRefused if there is none, or it is locked
   */
  static async take(namespace: string, options: HoldOptions): Promise<{ hold: SourceHold; stored: StoredSchema }> {
    const { engine } = options;
    const lock = await lockForMove(namespace, options);
    try {
      const found = await storedSchema(engine, namespace);
      if (found === null) throw new MoveRefused(`there is no namespace ${namespace} to copy`);
      const until = Date.now() + LIFETIME_MS;
      await patiently(() => writeMoveMark(engine, namespace, { kind: 'leaving', until }, statementBounds()));
      const stored = await growRevision(engine, namespace);
      return { hold: new SourceHold(namespace, engine, lock, until), stored };
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** There was a time in which writes could pass unnoticed. */
  get wasLost(): boolean {
    return this.#wasLost || Date.now() > this.#until;
  }

  /** Never rejects: a mark that stays behind ends by itself. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewal;
    await writeMoveMark(this.#engine, this.#namespace, null, statementBounds()).catch(() => undefined);
    await this.#lock.release();
  }

  async #renew(): Promise<void> {
    const until = Date.now() + LIFETIME_MS;
    try {
      await writeMoveMark(this.#engine, this.#namespace, { kind: 'leaving', until }, statementBounds());
      if (Date.now() > this.#until) this.#wasLost = true;
      this.#until = until;
    } catch {
      // The next renewal tries again; whether it came too late is seen then.
    }
  }
}
