import { ApiError } from '#protocol/errors.ts';
import type { QueueRow } from '../engine/queues.ts';
import type { CallBounds } from '../engine/rows.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';
import { LOG_EVENT } from '../log-event.ts';
import type { NamespaceState } from './journal/entries.ts';
import type { QueueWorld } from './queue-world.ts';

/** `unknown`: the database was not asked yet, or it refused the token. `foreign`: it is not the database of the journal. */
type PlaceKind = 'unknown' | 'known' | 'foreign';

/** Place of this journal in a namespace, and the token under which it accepts writes. */
export class JournalPlace {
  readonly #namespace: string;
  readonly #world: QueueWorld;
  #kind: PlaceKind = 'unknown';
  /** Token under which writes are accepted; set before the database was asked if this journal has served the namespace before. */
  #token: number | null;
  #state: NamespaceState | null;
  /** Schema as it was read last, even before the place was known. */
  #schema: StoredSchema | null = null;
  #isToldForeign = false;

  constructor(namespace: string, world: QueueWorld) {
    this.#namespace = namespace;
    this.#world = world;
    this.#state = world.journal.namespaces().get(namespace) ?? null;
    this.#token = this.#state?.isOwner === true ? this.#state.token : null;
  }

  get kind(): PlaceKind {
    return this.#kind;
  }

  /** Epoch milliseconds; the current time if the journal has never served the namespace. */
  get since(): number {
    return (this.#state?.isOwner === true ? this.#state.since : null) ?? this.#world.clock.now();
  }

  /** @throws ApiError `write_buffer_unavailable` */
  acceptToken(): number {
    if (this.#token !== null) return this.#token;
    const reason =
      this.#kind === 'foreign'
        ? `older queued writes of namespace ${this.#namespace} are meant for another database`
        : `the place in namespace ${this.#namespace} is not known, as the database does not answer`;
    throw new ApiError('write_buffer_unavailable', `${reason}; the write was not accepted`);
  }

  /** The database refused the token: accepts nothing until it was asked for the place. */
  doubt(): void {
    this.#kind = 'unknown';
    this.#token = null;
  }

  /**
   * Asks the database for the place; `take` gets its row, and the age of the last write of another sidecar, before anything
   * is accepted by it. `waiting`: number of writes in the journal. They were acknowledged under a row, which is never
   * deleted: a database without the row is another one.
   */
  async claim(waiting: number, take: (row: QueueRow, othersMsAgo: number | null) => void): Promise<void> {
    const { engine, journal, clock, statementTimeoutMs } = this.#world;
    const bounds = { deadline: clock.monotonicNow() + statementTimeoutMs };
    if (waiting > 0 && (await engine.queues.readQueue(this.#namespace, journal.id, bounds)) === null) {
      this.#kind = 'foreign';
      this.#token = null;
      this.#tellForeign(waiting);
      return;
    }
    const row = await engine.queues.claimQueue(this.#namespace, journal.id, bounds);
    const othersMsAgo = waiting > 0 ? await this.#othersMsAgo(bounds) : null;
    this.#kind = 'known';
    this.#token = row.token;
    this.#checkPositions(row);
    this.#tellKnown(row);
    take(row, othersMsAgo);
    await this.#saveToken(row);
  }

  /** Youngest write that another sidecar has applied from its queue; null for none. */
  async #othersMsAgo(bounds: CallBounds): Promise<number | null> {
    const { engine, journal } = this.#world;
    const rows = await engine.queues.listQueues(this.#namespace, bounds);
    const ages = rows.flatMap((row) => (row.journal === journal.id ? [] : (row.writtenMsAgo ?? [])));
    return ages.length === 0 ? null : Math.min(...ages);
  }

  /** The namespace is not buffered any more. The row stays, so that no entry is ever applied twice. */
  async release(): Promise<void> {
    if (this.#kind !== 'known' || this.#token === null) return;
    const token = this.#token;
    this.doubt();
    await this.#save({ namespace: this.#namespace, token, isOwner: false, since: 0, stored: null });
  }

  /** Keeps a copy of the schema, for a start while the database is away. */
  async keep(stored: StoredSchema): Promise<void> {
    const state = this.#state;
    this.#schema = stored;
    if (state === null || !state.isOwner || state.stored?.revision === stored.revision) return;
    await this.#save({ ...state, stored });
  }

  #saveToken({ token }: QueueRow): Promise<void> {
    const state = this.#state;
    if (state?.isOwner === true && state.token === token) return Promise.resolve();
    const since = this.#world.clock.now();
    const stored = this.#schema ?? state?.stored ?? null;
    return this.#save({ namespace: this.#namespace, token, isOwner: true, since, stored });
  }

  /** Without the saved state only a start while the database is away fails to acknowledge, so a failure is only logged. */
  async #save(state: NamespaceState): Promise<void> {
    this.#state = state;
    try {
      await this.#world.journal.saveNamespace(state);
    } catch (error) {
      this.#world.log('warn', 'the journal could not note its place in a namespace', {
        namespace: this.#namespace,
        cause: error instanceof Error ? error.message : String(error),
      });
    }
  }

  /** Reports positions that the journal or the database has forgotten and the other remembers. */
  #checkPositions(row: QueueRow): void {
    const { journal, log } = this.#world;
    const namespace = this.#namespace;
    const last = journal.lastPosition;
    if (row.position > last) {
      log('error', 'the journal is older than the database: acknowledged writes of it may be lost; was it restored?', {
        ...{ namespace, lastInJournal: last, appliedInDatabase: row.position },
      });
      journal.skipTo(row.position);
    }
    const settled = journal.settledTo(namespace);
    if (settled !== null && settled.token >= row.token && settled.position > row.position) {
      log('error', 'the database is older than the journal: writes that were applied are gone; was it restored?', {
        ...{ namespace, appliedByJournal: settled.position, appliedInDatabase: row.position },
      });
    }
  }

  /** Logs it once, until it is over. */
  #tellForeign(waiting: number): void {
    if (this.#isToldForeign) return;
    this.#isToldForeign = true;
    this.#world.log(
      'error',
      'the database has never had the queue of the namespace, for which acknowledged writes wait in the journal: ' +
        `is it the right database? If they are to go there, run: queue adopt ${this.#namespace} --config FILE`,
      { namespace: this.#namespace, writes: waiting },
    );
  }

  #tellKnown({ token }: QueueRow): void {
    if (!this.#isToldForeign) return;
    this.#isToldForeign = false;
    this.#world.log('info', 'the queue goes to this database now: writes of the namespace are accepted', {
      event: LOG_EVENT.recovered,
      namespace: this.#namespace,
      token,
    });
  }
}
