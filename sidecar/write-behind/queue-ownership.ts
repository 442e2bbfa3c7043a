import { ApiError } from '#protocol/errors.ts';
import type { QueueRow } from '../engine/queues.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';
import { LOG_EVENT } from '../log-event.ts';
import type { NamespaceState } from './journal/entries.ts';
import type { QueueWorld } from './queue-world.ts';

/** `unknown`: the database was not asked yet, or has said that the queue is another's and not whose. */
type OwnerKind = 'unknown' | 'owner' | 'lost';

/** Whether the queue of a namespace is this journal's, and under which token. */
export class QueueOwnership {
  readonly #namespace: string;
  readonly #world: QueueWorld;
  #kind: OwnerKind = 'unknown';
  /** Under which writes are accepted; also before the database was asked, if this journal owned the queue last. */
  #token: number | null;
  #state: NamespaceState | null;
  /** As it was read last; also before the queue was this journal's. */
  #schema: StoredSchema | null = null;
  /** What the log says of a queue that is not this journal's. */
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

  /** Epoch milliseconds; this very moment where the journal has never had the queue. */
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

  /** The database has refused: nothing is accepted until it has said whose the queue is. */
  doubt(): void {
    this.#kind = 'unknown';
    this.#token = null;
  }

  /**
   * Asks the database whose the queue is; `take` sees its row before anything is accepted by it. `waiting`: how many writes
   * the journal holds. They were acknowledged under a row, which is never deleted: a database that has none is another one.
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
    // First here: a queue that looks owned while it is not would accept what can only become dead letters.
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

  /** A copy that could not be kept costs only acknowledgements after a start while the database is away. */
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

  /** What one of the two has forgotten, the other remembers; neither is believed in silence. */
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

  /** Once each time that it happens. */
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
