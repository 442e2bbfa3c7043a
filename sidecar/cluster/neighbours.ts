import { hostname } from 'node:os';
import type { SidecarRow } from '../engine/cluster/cluster-calls.ts';
import type { Engine } from '../engine/engine.ts';
import type { EngineLog } from '../engine/log.ts';
import type { Instance } from '../security/instance.ts';

const BEAT_MS = 10_000;
const BEAT_TIMEOUT_MS = 5000;
/** A row that did not change for three beats and the time of one call: its sidecar is gone, or has lost the database. */
const ALIVE_MS = 35_000;
/** A row that did not change for this long is deleted. */
const FORGOTTEN_MS = 86_400_000;

/** Another sidecar of the database. */
export interface Neighbour extends SidecarRow {
  /** Its row has changed lately, as seen by this sidecar's monotonic clock; also true if the row was not seen for long yet. */
  readonly isAlive: boolean;
}

export interface NeighboursOptions {
  readonly instance: Instance;
  readonly engine: Pick<Engine, 'cluster' | 'leases'>;
  readonly version: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Milliseconds that never go back. */
  readonly monotonicNow?: () => number;
  readonly log: EngineLog;
}

/** This sidecar's own row among the sidecars of the database, written every 10 s, and what it sees of the others. */
export class Neighbours {
  readonly #options: NeighboursOptions;
  readonly #seen = new Map<string, { readonly row: SidecarRow; readonly since: number }>();
  /** Times that this process has tried to write; null before the first. */
  #written: number[] | null = null;
  #url = '';
  #timer: NodeJS.Timeout | null = null;
  /** Never rejects. */
  #beat: Promise<void> = Promise.resolve();

  constructor(options: NeighboursOptions) {
    this.#options = options;
  }

  /** Begins to announce this sidecar; does not wait for the database. */
  begin(url: string): void {
    this.#url = url;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#beatSoon(), BEAT_MS);
    this.#timer.unref();
    this.#beatSoon();
  }

  get instance(): string {
    return this.#options.instance.id;
  }

  /** Others as they were seen last, sorted by instance. */
  others(): Neighbour[] {
    const now = this.#monotonic();
    return [...this.#seen.values()]
      .filter(({ row }) => row.instance !== this.instance)
      .map(({ row, since }) => ({ ...row, isAlive: now - since < ALIVE_MS }));
  }

  get hasOthers(): boolean {
    return this.others().some(({ isAlive }) => isAlive);
  }

  /** Resolves when the running look at the others has ended, however it did. */
  settled(): Promise<void> {
    return this.#beat;
  }

  /** Takes the row away: this sidecar is gone in order. */
  async stop(): Promise<void> {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    await this.#beat;
    const seenAt = this.#written?.at(-1);
    if (seenAt === undefined) return;
    const row = { instance: this.instance, seenAt };
    await this.#options.engine.cluster.dropSidecar(row, this.#bounds()).catch(() => {});
  }

  #beatSoon(): void {
    // The next beat retries; calls report a database that is away.
    this.#beat = this.#beat.then(() => this.#beatNow()).catch(() => {});
  }

  async #beatNow(): Promise<void> {
    const { cluster, leases } = this.#options.engine;
    const rows = await cluster.listSidecars(this.#bounds());
    this.#note(rows);
    let own = rows.find(({ instance }) => instance === this.instance);
    if (own !== undefined && this.#written !== null && !this.#written.includes(own.seenAt)) {
      this.#renew(own);
      own = undefined;
    }
    const last = this.#written?.at(-1) ?? 0;
    const seenAt = Math.max(this.#options.now(), last + 1, own === undefined ? 0 : own.seenAt + 1);
    this.#written = own === undefined ? [seenAt] : [own.seenAt, seenAt];
    const { instance, version } = { instance: this.instance, version: this.#options.version };
    const row = { instance, box: hostname(), url: this.#url, version, seenAt };
    await cluster.putSidecar(row, own?.seenAt ?? null, this.#bounds());
    await leases.look(this.#bounds());
  }

  /** Another process writes the same row: a copy of this sidecar's whole disk runs elsewhere. */
  #renew({ instance, box, url }: SidecarRow): void {
    const id = this.#options.instance.renew();
    this.#written = null;
    this.#options.log(
      'warn',
      'another sidecar lives under the id of this one, as after a copy of its data folder: this one has drawn a new id',
      { id, before: instance, otherBox: box, otherUrl: url },
    );
  }

  #note(rows: readonly SidecarRow[]): void {
    const now = this.#monotonic();
    const present = new Map(rows.map((row) => [row.instance, row]));
    for (const instance of this.#seen.keys()) if (!present.has(instance)) this.#seen.delete(instance);
    for (const row of rows) {
      const before = this.#seen.get(row.instance);
      if (before?.row.seenAt !== row.seenAt) this.#seen.set(row.instance, { row, since: now });
      else if (now - before.since > FORGOTTEN_MS && row.instance !== this.instance) {
        void this.#options.engine.cluster.dropSidecar(row, this.#bounds()).catch(() => {});
      }
    }
  }

  #monotonic(): number {
    return (this.#options.monotonicNow ?? (() => performance.now()))();
  }

  #bounds() {
    return { deadline: performance.now() + BEAT_TIMEOUT_MS };
  }
}
