import { hostname } from 'node:os';
import type { SidecarRow } from '../engine/cluster/cluster-calls.ts';
import type { Engine } from '../engine/engine.ts';
import type { EngineLog } from '../engine/log.ts';
import type { CallBounds } from '../engine/rows.ts';
import { LOG_EVENT } from '../log-event.ts';
import type { Instance } from '../security/instance.ts';
import { type KeyMarks, writeKeyMarks } from './key-marks.ts';
import { Looks } from './looks.ts';

const BEAT_MS = 10_000;
const BEAT_TIMEOUT_MS = 5000;
/** A row that did not change for three beats and the time of one call: its sidecar is gone, or has lost the database. */
const ALIVE_MS = 35_000;
/** Looks without a change after which a silent sidecar is told of: a database that was away for all of them is no silence. */
const SILENT_LOOKS = 8;
/** A row that did not change for this long is deleted. */
const FORGOTTEN_MS = 86_400_000;
/** After this long without a look nothing is known of the others: the process was stopped, or its database is away. */
const BLIND_MS = 10_000;

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

/** A row as it was seen last. */
interface Sighting {
  readonly row: SidecarRow;
  /** Monotonic milliseconds of its last change. */
  readonly since: number;
  /** Looks since then. */
  readonly looks: number;
  /** `found`: it was there, and did not change yet, as that of a sidecar that is long gone. */
  readonly state: 'found' | 'living' | 'silent';
}

/** This sidecar's own row among the sidecars of the database, written every 10 s, and what it sees of the others. */
export class Neighbours {
  readonly #options: NeighboursOptions;
  readonly #monotonicNow: () => number;
  readonly #seen = new Map<string, Sighting>();
  /** Times that this process has tried to write; null before the first. */
  #written: number[] | null = null;
  /** Instance for which the keys are told. */
  #toldKeysOf: string | null = null;
  #url = '';
  #beats: NodeJS.Timeout | null = null;
  /** Never rejects. */
  #beat: Promise<void> = Promise.resolve();
  readonly #looks = new Looks((bounds) => this.#look(bounds));
  /** Monotonic milliseconds; see `knownSince`. */
  #knownSince: number;
  /** Monotonic milliseconds of the last look. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** Monotonic milliseconds of the last written row. */
  #beatenAt = Number.NEGATIVE_INFINITY;
  /** Epoch milliseconds: the clock of the living sidecar that is furthest behind, at the last look. */
  #slowest = Number.POSITIVE_INFINITY;

  constructor(options: NeighboursOptions) {
    this.#options = options;
    this.#monotonicNow = options.monotonicNow ?? (() => performance.now());
    this.#knownSince = this.#monotonicNow();
  }

  /** Reads which others there are, before this sidecar answers requests. Resolves also if the database does not answer. */
  lookFirst(): Promise<void> {
    return this.#looks.first();
  }

  /** Begins to announce this sidecar; does not wait for the database. */
  begin(url: string): void {
    this.#url = url;
    this.#beats ??= setInterval(() => this.#beatSoon(), BEAT_MS).unref();
    this.#looks.begin();
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
    const now = this.#monotonicNow();
    return [...this.#seen.values()]
      .filter(({ row }) => row.instance !== this.instance)
      .map(({ row, since }) => ({ ...row, isAlive: now - since < ALIVE_MS }));
  }

  /**
   * Whether another sidecar may accept what this one does: each whose row is there. A silent one may be a process that was
   * stopped, which goes on where it was; so may this one have been, and has seen nothing of the others since.
   */
  get hasOthers(): boolean {
    if (this.#monotonicNow() - this.#lookedAt >= BLIND_MS) return true;
    for (const instance of this.#seen.keys()) if (instance !== this.instance) return true;
    return false;
  }

  /**
   * Epoch milliseconds from which the others may know that this sidecar lives: its start, or the end of the last time
   * without the database that was long enough to count as dead. By the clock of now, which may have been corrected since.
   */
  get knownSince(): number {
    return this.#options.now() - (this.#monotonicNow() - this.#knownSince);
  }

  /**
   * Epoch milliseconds by which what all sidecars share has expired: by this clock, or that of a living sidecar that is further
   * behind. A sidecar whose clock is ahead, or that was stopped for long, takes nothing from the others.
   */
  get expiryNow(): number {
    return Math.min(this.#options.now(), this.#slowest);
  }

  /** Resolves when the running look at the others has ended, however it did. */
  settled(): Promise<void> {
    return this.#beat;
  }

  /** Takes the row away: this sidecar is gone in order. */
  async stop(): Promise<void> {
    if (this.#beats === null) return;
    clearInterval(this.#beats);
    this.#beats = null;
    void this.#looks.end();
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

  async #look(bounds: CallBounds): Promise<readonly SidecarRow[]> {
    const startedAt = this.#monotonicNow();
    const rows = await this.#options.engine.cluster.listSidecars(bounds);
    this.#lookedAt = startedAt;
    this.#note(rows);
    return rows;
  }

  async #beatNow(): Promise<void> {
    const { cluster, leases } = this.#options.engine;
    const rows = await this.#look(this.#bounds());
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
    const now = this.#monotonicNow();
    const wasAway = now - this.#beatenAt >= ALIVE_MS - BEAT_MS;
    if (wasAway && this.#beatenAt !== Number.NEGATIVE_INFINITY) this.#knownSince = now;
    this.#beatenAt = now;
  }

  #note(rows: readonly SidecarRow[]): void {
    const now = this.#monotonicNow();
    const present = new Map(rows.map((row) => [row.instance, row]));
    for (const [instance, sighting] of this.#seen) {
      if (present.has(instance)) continue;
      this.#seen.delete(instance);
      if (sighting.state === 'living')
        this.#tell('info', 'another sidecar of the database has ended in order', sighting);
    }
    for (const row of rows) {
      const before = this.#seen.get(row.instance);
      const sighting = seenAgain(row, before, now);
      this.#seen.set(row.instance, sighting);
      if (row.instance === this.instance) continue;
      this.#tellChange(before?.state, sighting);
      if (now - sighting.since > FORGOTTEN_MS) void this.#drop(row).catch(() => {});
    }
    const living = this.others().filter(({ isAlive }) => isAlive);
    this.#slowest = Math.min(...living.map(({ seenAt }) => seenAt));
  }

  #tellChange(before: Sighting['state'] | undefined, sighting: Sighting): void {
    if (before === 'silent' && sighting.state === 'living') {
      this.#tell('info', 'another sidecar of the database is seen again', sighting, { event: LOG_EVENT.recovered });
    }
    if (before === 'living' && sighting.state === 'silent') {
      const message =
        'another sidecar of the database gives no sign any more: its process, its machine or its way to the database is gone';
      this.#tell('warn', message, sighting);
    }
  }

  #tell(level: 'info' | 'warn', message: string, { row }: Sighting, more: object = {}): void {
    const { instance, box, url } = row;
    this.#options.log(level, message, { ...more, instance, box, url });
  }

  #bounds(): CallBounds {
    return { deadline: performance.now() + BEAT_TIMEOUT_MS };
  }
}

function seenAgain(row: SidecarRow, before: Sighting | undefined, now: number): Sighting {
  if (before === undefined) return { row, since: now, looks: 0, state: 'found' };
  if (before.row.seenAt !== row.seenAt) return { row, since: now, looks: 0, state: 'living' };
  const looks = before.looks + 1;
  const isSilent = before.state === 'living' && now - before.since >= ALIVE_MS && looks >= SILENT_LOOKS;
  return { ...before, looks, state: isSilent ? 'silent' : before.state };
}
