import { hostname } from 'node:os';
import { isJsonObject, parseJson } from '#protocol/json.ts';
import type { Engine } from '../engine/engine.ts';

const CALL_MS = 10_000;

/** Scheduled work of the database that another of its sidecars did last. */
export interface DoneElsewhere {
  /** Epoch milliseconds, by the clock of that sidecar. */
  readonly time: number;
  readonly box: string;
  /** JSON that it has kept of its work. */
  readonly note: unknown;
}

/** Keeps several sidecars of one database from doing the same scheduled work. */
export class BackupLease {
  readonly #engine: Pick<Engine, 'leases' | 'transfer'>;
  /** Name of the lease, and of the mark that says who did the work last. */
  readonly #name: string;

  constructor(engine: Pick<Engine, 'leases' | 'transfer'>, name: 'backup' | 'backup drill' = 'backup') {
    this.#engine = engine;
    this.#name = name;
  }

  /**
   * Runs `work` under the lease, with the last work if another sidecar did it, and the id of this one; keeps the note that
   * `work` returns, and nothing for null. Does nothing while another sidecar works.
   */
  async alone(work: (last: DoneElsewhere | null, instance: string) => Promise<object | null>): Promise<void> {
    const lease = await this.#engine.leases.hold(this.#name, bounds());
    if (lease === null) return;
    try {
      const [instance = ''] = lease.owner.split('.');
      const note = await work(await this.lastElsewhere(instance), instance);
      if (note === null) return;
      const done = { instance, box: hostname(), time: Date.now(), note };
      await this.#engine.transfer.writeMark(this.#name, JSON.stringify(done), bounds());
    } finally {
      await lease.release();
    }
  }

  /** Null if the sidecar with this id did the work last, or none. */
  async lastElsewhere(instance: string): Promise<DoneElsewhere | null> {
    const text = await this.#engine.transfer.readMark(this.#name, bounds());
    const json = text === null ? null : parseJson(text);
    if (!isJsonObject(json) || json.instance === instance) return null;
    return { time: Number(json.time), box: String(json.box), note: json.note };
  }
}

function bounds() {
  return { deadline: performance.now() + CALL_MS };
}
