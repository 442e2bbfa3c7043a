import { hostname } from 'node:os';
import { isJsonObject, parseJson } from '#protocol/json.ts';
import type { Engine } from '../engine/engine.ts';

/** Name of the lease, and of the mark that says who made the last scheduled backup. */
const NAME = 'backup';
const CALL_MS = 10_000;

/** Last scheduled backup of the database, by another of its sidecars. */
export interface MadeBackup {
  /** Epoch milliseconds, by the clock of its maker. */
  readonly time: number;
  readonly box: string;
}

/** Keeps several sidecars of one database from making the same scheduled backup. */
export class BackupLease {
  readonly #engine: Pick<Engine, 'leases' | 'transfer'>;

  constructor(engine: Pick<Engine, 'leases' | 'transfer'>) {
    this.#engine = engine;
  }

  /**
   * Runs `make` under the lease, with the last backup if another sidecar made it; notes this one if `make` returns true.
   * Does nothing while another sidecar makes one.
   */
  async alone(make: (last: MadeBackup | null) => Promise<boolean>): Promise<void> {
    const lease = await this.#engine.leases.hold(NAME, bounds());
    if (lease === null) return;
    try {
      const [instance] = lease.owner.split('.');
      const text = await this.#engine.transfer.readMark(NAME, bounds());
      const json = text === null ? null : parseJson(text);
      const isOther = isJsonObject(json) && json.instance !== instance;
      if (!(await make(isOther ? { time: Number(json.time), box: String(json.box) } : null))) return;
      const made = { instance, box: hostname(), time: Date.now() };
      await this.#engine.transfer.writeMark(NAME, JSON.stringify(made), bounds());
    } finally {
      await lease.release();
    }
  }
}

function bounds() {
  return { deadline: performance.now() + CALL_MS };
}
