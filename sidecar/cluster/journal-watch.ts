import { hostname } from 'node:os';
import type { Engine } from '../engine/engine.ts';
import type { CallBounds } from '../engine/rows.ts';
import { type JournalNote, readRequest, writeJournalNote } from './journal-notes.ts';
import { Looks } from './looks.ts';

const NOTE_TIMEOUT_MS = 5000;
/** Longest time for applying what waits on request. */
const FLUSH_MS = 10_000;
/** A stop does not wait for long for a database that is away. */
const LAST_NOTE_TIMEOUT_MS = 1000;

export interface JournalWatchOptions {
  readonly engine: Pick<Engine, 'transfer'>;
  /** Instance of this sidecar, which may draw another one. */
  readonly instance: () => string;
  readonly journal: string;
  /** Number of queued writes that wait. */
  readonly waiting: () => number;
  /** Applies what waits, as far as it can until then (monotonic); the number of writes that are left of it. */
  readonly settle: (deadline: number) => Promise<number>;
}

/** Says in the database which box has this journal, and applies what waits when a backup of another box asks for it. */
export class JournalWatch {
  readonly #options: JournalWatchOptions;
  #told: JournalNote | null = null;
  readonly #looks = new Looks((bounds) => this.#look(bounds));

  constructor(options: JournalWatchOptions) {
    this.#options = options;
  }

  /** Does not wait for the database. */
  begin(): void {
    this.#looks.begin();
    void this.#looks.soon();
  }

  /** No request is carried out after this. */
  end(): Promise<void> {
    return this.#looks.end();
  }

  /** The journal is closed: what waits in it now stays there until the next start. */
  async tellEnd(): Promise<void> {
    if (this.#told === null) return;
    const { request } = this.#told;
    const last = { request, waiting: this.#options.waiting(), isRunning: false };
    await this.#tell(last, LAST_NOTE_TIMEOUT_MS).catch(() => {});
  }

  async #look(bounds: CallBounds): Promise<void> {
    const { engine, instance, settle, waiting } = this.#options;
    const { request: done = '' } = this.#told ?? {};
    if (this.#told?.instance !== instance()) await this.#tell({ request: done, waiting: waiting(), isRunning: true });
    const request = await readRequest(engine, bounds);
    if (request === null || request === done) return;
    const left = await settle(performance.now() + FLUSH_MS);
    await this.#tell({ request, waiting: left, isRunning: true });
  }

  async #tell(
    state: Pick<JournalNote, 'request' | 'waiting' | 'isRunning'>,
    timeoutMs = NOTE_TIMEOUT_MS,
  ): Promise<void> {
    const { engine, journal, instance } = this.#options;
    const note = { ...state, instance: instance(), box: hostname(), isForgotten: false };
    await writeJournalNote(engine, journal, note, { deadline: performance.now() + timeoutMs });
    this.#told = note;
  }
}
