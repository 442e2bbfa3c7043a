import { LEASE_DEAD_MS, type Lease } from '../engine/cluster/leases.ts';
import type { Engine } from '../engine/engine.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';
import { writeMoveMark } from '../schema/move-mark.ts';
import { patiently, statementBounds } from './patience.ts';
import { MoveRefused } from './report.ts';
import { growRevision, storedSchema } from './revision.ts';

/** A mark that was not renewed for so long belongs to a copy that is gone, and writes go on. */
const LIFETIME_MS = 30_000;
const RENEW_EVERY_MS = 3000;

export interface HoldOptions {
  readonly engine: Engine;
}

/** Long enough to know that a run was cut off. */
const LOCK_WAIT_MS = LEASE_DEAD_MS + 2000;

/**
 * Waits for a lock that its owner has left behind.
 * @throws MoveRefused if another process still holds it
 */
export async function lockForMove(namespace: string, { engine }: Pick<HoldOptions, 'engine'>): Promise<Lease> {
  const lock = await patiently(() => engine.leases.hold(namespace, statementBounds(), LOCK_WAIT_MS));
  if (lock !== null) return lock;
  throw new MoveRefused(`namespace ${namespace} is locked: a schema sync or another copy is running`);
}

/** Keeps a namespace as it is while it is read: no sync, and no write of a sidecar that runs on the database. */
export class SourceHold {
  readonly #namespace: string;
  readonly #engine: Engine;
  readonly #lock: Lease;
  readonly #timer: NodeJS.Timeout;
  #until: number;
  /** Never rejects. */
  #renewal: Promise<void> = Promise.resolve();
  #wasLost = false;

  private constructor(namespace: string, engine: Engine, lock: Lease, until: number) {
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
