import { ApiError } from '#protocol/errors.ts';
import type { QueueRow } from '../engine/queues.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';
import { LOG_EVENT } from '../log-event.ts';
import type { NamespaceState } from './journal/entries.ts';
import type { QueueWorld } from './queue-world.ts';

/** `unknown`: the database was not asked yet, or it refused the token without naming the owner. */
type OwnerKind = 'unknown' | 'owner' | 'lost';

/** Whether this journal owns the queue of a namespace, and under which token. */
export class QueueOwnership {
  readonly #namespace: string;
  readonly #world: QueueWorld;
  #kind: OwnerKind = 'unknown';
  /** Token under which writes are accepted; set before the database was asked if this journal owned the queue last. */
  #token: number | null;
  #state: NamespaceState | null;
  /** Schema as it was read last, even before this journal owned the queue. */
  #schema: StoredSchema | null = null;
  /** Last line in the log about a queue that is not this journal's. */
  #told: 'foreign' | 'lost' | null = null;

  constructor(namespace: string, world: QueueWorld) {
    this.#namespace = namespace;
    this.#world = world;
    this.#state = world.journal.namespaces().get(namespace) ?? null;
    this.#token = this.#state?.isOwner === true ? this.#state.token : null;
  }

  get kind(): OwnerKind {
    return this.#kind;
  }

  /** Epoch milliseconds; the current time if the journal has never owned the queue. */
  get since(): number {
    return (this.#state?.isOwner === true ? this.#state.since : null) ?? this.#world.clock.now();
  }

  /** @throws ApiError `write_buffer_unavailable` */
  acceptToken(): number {
    if (this.#token !== null) return this.#token;
    const reason =
      this.#kind === 'lost'
        ? `the queue of namespace ${this.#namespace} is not this sidecar's`
        : `the queue of namespace ${this.#namespace} cannot be claimed, as the database does not answer`;
    throw new ApiError('write_buffer_unavailable', `${reason}; the write was not accepted`);
  }

  /** The database refused the token: accepts nothing until it has named the owner. */
  doubt(): void {
    this.#kind = 'unknown';
    this.#token = null;
  }

  /**
   * Asks the database for the owner; `take` gets its row before anything is accepted by it. `waiting`: number of writes in
   * the journal. They were acknowledged under a row, which is never deleted: a database without the row is another one.
   */
  async claim(waiting: number, take: (row: QueueRow) => void): Promise<void> {
    const { engine, journal, clock, statementTimeoutMs } = this.#world;
    const bounds = { deadline: clock.monotonicNow() + statementTimeoutMs };
    if (waiting > 0 && (await engine.queues.readQueue(this.#namespace, bounds)) === null) {
      this.#kind = 'lost';
      this.#token = null;
      this.#tellForeign(waiting);
      return;
    }
    const row = await engine.queues.claimQueue(this.#namespace, journal.id, bounds);
    const isOwner = row.journal === journal.id;
    this.#kind = isOwner ? 'owner' : 'lost';
    this.#token = isOwner ? row.token : null;
    if (isOwner) {
      this.#checkPositions(row);
      this.#tellOwned(row);
    } else this.#tellLost(row);
    take(row);
    await this.#saveOwner(row, isOwner);
  }

  async release(): Promise<void> {
    const { engine, journal, clock, statementTimeoutMs } = this.#world;
    if (this.#kind !== 'owner' || this.#token === null) return;
    const owner = { namespace: this.#namespace, journal: journal.id, token: this.#token };
    this.doubt();
    // The journal first: a queue that looks owned and is not would accept writes that can only become dead letters.
    await this.#save({
      namespace: this.#namespace,
      token: owner.token,
      isOwner: false,
      since: 0,
      stored: null,
    });
    await engine.queues.releaseQueue(owner, { deadline: clock.monotonicNow() + statementTimeoutMs });
  }

  /** Keeps a copy of the schema, for a start while the database is away. */
  async keep(stored: StoredSchema): Promise<void> {
    const state = this.#state;
    this.#schema = stored;
    if (state === null || !state.isOwner || state.stored?.revision === stored.revision) return;
    await this.#save({ ...state, stored });
  }

  #saveOwner({ token }: QueueRow, isOwner: boolean): Promise<void> {
    const state = this.#state;
    const isSame = state?.isOwner === true && state.token === token;
    if (isOwner === (state?.isOwner ?? false) && (isSame || !isOwner)) return Promise.resolve();
    const since = isOwner ? this.#world.clock.now() : 0;
    return this.#save({
      namespace: this.#namespace,
      token,
      isOwner,
      since,
      stored: this.#schema ?? state?.stored ?? null,
    });
  }

  /** Without the saved state only a start while the database is away fails to acknowledge, so a failure is only logged. */
  async #save(state: NamespaceState): Promise<void> {
    this.#state = state;
    try {
      await this.#world.journal.saveNamespace(state);
    } catch (error) {
      this.#world.log('warn', 'the journal could not note who owns a queue', {
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

  #tellForeign(waiting: number): void {
    this.#tell(
      'foreign',
      'the database has never had the queue of the namespace, for which acknowledged writes wait in the journal: ' +
        `is it the right database? If they are to go there, run: queue take-over ${this.#namespace} --config FILE`,
      { writes: waiting },
    );
  }

  #tellLost({ token }: QueueRow): void {
    this.#tell(
      'lost',
      'the queue belongs to another journal, that of another sidecar or of a folder that was named here before: writes of the ' +
        `namespace are refused; if that one is gone for good, run: queue take-over ${this.#namespace} --config FILE`,
      { token },
    );
  }

  /** Logs a state once, until another state is logged. */
  #tell(what: 'foreign' | 'lost', message: string, fields: Readonly<Record<string, number>>): void {
    if (this.#told === what) return;
    this.#told = what;
    this.#world.log('error', message, { namespace: this.#namespace, ...fields });
  }

  #tellOwned({ token }: QueueRow): void {
    if (this.#told === null) return;
    this.#told = null;
    this.#world.log('info', "the queue is this journal's now: writes of the namespace are accepted", {
      event: LOG_EVENT.recovered,
      namespace: this.#namespace,
      token,
    });
  }
}
