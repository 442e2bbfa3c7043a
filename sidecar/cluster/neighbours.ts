import { hostname } from 'node:os';
import type { SidecarRow } from '../engine/cluster/cluster-calls.ts';
import type { Engine } from '../engine/engine.ts';
import type { EngineLog } from '../engine/log.ts';
import type { Instance } from '../security/instance.ts';
import { type KeyMarks, writeKeyMarks } from './key-marks.ts';

const BEAT_MS = 10_000;
/** Interval of looks at the others: a new sidecar is known that soon. */
const LOOK_MS = 2000;
/** Longest wait of a start for a database that is away. */
const FIRST_LOOK_MS = 2000;
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
  readonly engine: Pick<Engine, 'cluster' | 'leases' | 'transfer'>;
  readonly version: string;
  readonly keys: KeyMarks;
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
  /** Instance for which the keys are told. */
  #toldKeysOf: string | null = null;
  #url = '';
  #timers: readonly NodeJS.Timeout[] = [];
  /** Never rejects. */
  #beat: Promise<void> = Promise.resolve();
  #isLooking = false;
  #knownSince: number;
  /** Monotonic milliseconds of the last written row. */
  #beatenAt = Number.NEGATIVE_INFINITY;

  constructor(options: NeighboursOptions) {
    this.#options = options;
    this.#knownSince = options.now();
  }

  /** Reads which others there are, before this sidecar answers requests. Resolves also if the database does not answer. */
  async lookFirst(): Promise<void> {
    await this.#look(FIRST_LOOK_MS).catch(() => {});
  }

  /** Begins to announce this sidecar; does not wait for the database. */
  begin(url: string): void {
    this.#url = url;
    this.#timers.forEach(clearInterval);
    this.#timers = [setInterval(() => this.#beatSoon(), BEAT_MS), setInterval(() => this.#lookSoon(), LOOK_MS)];
    for (const timer of this.#timers) timer.unref();
    this.#beatSoon();
  }

  get instance(): string {
    return this.#options.instance.id;
  }

  /** This sidecar as the others see it; without an address before `begin`. */
  own(): Omit<Neighbour, 'seenAt'> {
    const { instance } = this;
    return { instance, box: hostname(), url: this.#url, version: this.#options.version, isAlive: true };
  }

  /** Others as they were seen last, sorted by instance. */
  others(): Neighbour[] {
    const now = this.#monotonic();
    return [...this.#seen.values()]
      .filter(({ row }) => row.instance !== this.instance)
      .map(({ row, since }) => ({ ...row, isAlive: now - since < ALIVE_MS }));
  }

  get hasOthers(): boolean {
    const now = this.#monotonic();
    for (const { row, since } of this.#seen.values()) {
      if (row.instance !== this.instance && now - since < ALIVE_MS) return true;
    }
    return false;
  }

  /**
   * Epoch milliseconds from which the others may know that this sidecar lives: its start, or the end of the last time
   * without the database that was long enough to count as dead.
   */
  get knownSince(): number {
    return this.#knownSince;
  }

  /** Resolves when the running look at the others has ended, however it did. */
  settled(): Promise<void> {
    return this.#beat;
  }

  /** Takes the row away: this sidecar is gone in order. */
  async stop(): Promise<void> {
    if (this.#timers.length === 0) return;
    this.#timers.forEach(clearInterval);
    await this.#beat;
    const seenAt = this.#written?.at(-1);
    if (seenAt === undefined) return;
    await this.#drop({ instance: this.instance, seenAt }).catch(() => {});
  }

  async #drop({ instance, seenAt }: Pick<SidecarRow, 'instance' | 'seenAt'>): Promise<void> {
    const { engine } = this.#options;
    await engine.cluster.dropSidecar({ instance, seenAt }, this.#bounds());
    await writeKeyMarks(engine, instance, null, this.#bounds());
  }

  #beatSoon(): void {
    // The next beat retries; calls report a database that is away.
    this.#beat = this.#beat.then(() => this.#beatNow()).catch(() => {});
  }

  #lookSoon(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#look(BEAT_TIMEOUT_MS)
      .catch(() => {})
      .finally(() => {
        this.#isLooking = false;
      });
  }

  async #look(timeoutMs: number): Promise<readonly SidecarRow[]> {
    const rows = await this.#options.engine.cluster.listSidecars(this.#bounds(timeoutMs));
    this.#note(rows);
    return rows;
  }

  async #beatNow(): Promise<void> {
    const { cluster, leases } = this.#options.engine;
    const rows = await this.#look(BEAT_TIMEOUT_MS);
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
    this.#noteBeat();
    await leases.look(this.#bounds());
    await this.#tellKeys();
  }

  async #tellKeys(): Promise<void> {
    const { instance } = this;
    if (this.#toldKeysOf === instance) return;
    await writeKeyMarks(this.#options.engine, instance, this.#options.keys, this.#bounds());
    this.#toldKeysOf = instance;
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

  #noteBeat(): void {
    const now = this.#monotonic();
    const wasAway = now - this.#beatenAt >= ALIVE_MS - BEAT_MS;
    if (wasAway && this.#beatenAt !== Number.NEGATIVE_INFINITY) this.#knownSince = this.#options.now();
    this.#beatenAt = now;
  }

  #note(rows: readonly SidecarRow[]): void {
    const now = this.#monotonic();
    const present = new Map(rows.map((row) => [row.instance, row]));
    for (const instance of this.#seen.keys()) if (!present.has(instance)) this.#seen.delete(instance);
    for (const row of rows) {
      const before = this.#seen.get(row.instance);
      if (before?.row.seenAt !== row.seenAt) this.#seen.set(row.instance, { row, since: now });
      else if (now - before.since > FORGOTTEN_MS && row.instance !== this.instance) {
        void this.#drop(row).catch(() => {});
      }
    }
  }

  #monotonic(): number {
    return (this.#options.monotonicNow ?? (() => performance.now()))();
  }

  #bounds(timeoutMs = BEAT_TIMEOUT_MS) {
    return { deadline: performance.now() + timeoutMs };
  }
}
