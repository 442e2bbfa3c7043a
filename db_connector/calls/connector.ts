import { ApiClient } from '../client/api-client.ts';
import { CallTrace } from '../client/call-trace.ts';
import { errorResult, type Result } from '../client/outcome.ts';
import { randomId } from '../client/random-id.ts';
import type { Cancel, Timers } from '../client/timers.ts';
import type { Transport } from '../client/transport.ts';
import type { Configuration } from '../config/configuration.ts';
import type { CallSettings } from '../config/database-config.ts';
import type { Say } from '../config/say.ts';
import { type CheckedCall, checkCall, checkNamespace, Refusal } from './call-checks.ts';
import { CallQueue } from './call-queue.ts';
import { CallerBook, type CallerFigures } from './caller-book.ts';
import { type ByteForm, type Question, readQuestion } from './records.ts';
import { ResultTable } from './result-table.ts';
import { SlowCalls } from './slow-calls.ts';

export interface ConnectorOptions {
  readonly timers: Timers;
  readonly bytes: ByteForm;
  readonly log: Say;
  readonly openTransport: (configuration: Configuration) => Transport;
}

/** A call with a ticket. */
interface AcceptedCall {
  /** Of the ticket. */
  readonly id: string;
  readonly call: CheckedCall;
  /** Null where the host does not tell. */
  readonly caller: string | null;
  readonly trace: CallTrace;
  /** It was taken while this server's own sidecar was starting: that it took long surprises nobody. */
  readonly wasHeld: boolean;
}

/** A result that nobody collects is kept this long, and four times the timeout. */
const RESULT_LIFETIME_MS = 120_000;

const INTERNAL = 'unexpected failure of the connector; details are in the log';

/** Longest that calls wait for a sidecar that this connector runs itself (contract section 8). */
const LONGEST_HOLD_MS = 30_000;

/** Calls that wait because there is no address to send them to yet. */
interface Hold {
  readonly settings: CallSettings;
  readonly end: Cancel;
  /** Why calls end now that nobody waits any longer; null while they wait. */
  over: string | null;
}

/** The two exports and what is behind them: tickets, the queue, and the client of the running configuration. */
export class Connector {
  readonly #options: ConnectorOptions;
  readonly #queue: CallQueue;
  readonly #callers = new CallerBook();
  readonly #results: ResultTable;
  readonly #slowCalls: SlowCalls;
  /** Clients of earlier configurations whose calls have not all ended. */
  readonly #retired = new Set<ApiClient>();
  #client: ApiClient | null = null;
  #hold: Hold | null = null;
  #reason = 'no configuration has been read yet';
  /** Why no new call is taken; null while they are. */
  #closing: string | null = null;

  constructor(options: ConnectorOptions) {
    this.#options = options;
    this.#queue = new CallQueue(options.timers.elapsed);
    this.#results = new ResultTable(options.timers);
    this.#slowCalls = new SlowCalls(options.timers, options.log);
  }

  /** Of the running configuration; null where there is none, and `reason` says why. */
  get client(): ApiClient | null {
    return this.#client;
  }

  get reason(): string {
    return this.#hold === null ? this.#reason : (this.#hold.over ?? 'the sidecar of this server is starting');
  }

  /** Of the calls of now; undefined where there is no configuration. */
  get settings(): CallSettings | undefined {
    return this.#client?.config ?? this.#hold?.settings;
  }

  /** There is a configuration, and no sidecar to call yet. */
  get isHolding(): boolean {
    return this.#hold !== null;
  }

  get waiting(): number {
    return this.#queue.waiting;
  }

  get inFlight(): number {
    return this.#queue.inFlight;
  }

  /** Those with most calls first. */
  get callers(): readonly CallerFigures[] {
    return this.#callers.figures();
  }

  /**
   * Export `Call`: a record DbCall(Operation, Json) gives DbTicket(Id, Accepted, Error). Synchronous; never throws.
   *
   * @param caller the bundle that asks, where the host tells; only it can collect the result
   */
  call(question: unknown, caller?: string): unknown {
    const asked = readQuestion(question, ['Operation', 'Json'], this.#options.bytes);
    const { reply } = asked;
    try {
      return reply({ Id: this.#accept(this.#check(asked), caller), Accepted: true, Error: '' });
    } catch (error) {
      if (!(error instanceof Refusal)) {
        this.#logInternal(error);
      }
      this.#callers.refused(caller ?? null);
      return reply({
        Id: '',
        Accepted: false,
        Error: error instanceof Refusal ? error.message : `internal: ${INTERNAL}`,
      });
    }
  }

  /**
   * Export `TakeResult`: a record DbResultQuery(Id) gives DbResult(Id, State, Status, Code, Json). Synchronous; never
   * throws.
   */
  takeResult(question: unknown, caller?: string): unknown {
    const { texts, reply } = readQuestion(question, ['Id'], this.#options.bytes);
    const [id = ''] = texts ?? [];
    const taken = this.#results.take(id, caller);
    if (taken === 'pending' || taken === 'missing') {
      return reply({ Id: id, State: taken, Status: 0, Code: '', Json: '' });
    }
    return reply({ Id: id, State: taken.state, Status: taken.status, Code: taken.code, Json: taken.json });
  }

  /** Export `ClockOffset`: how many milliseconds the API's clock is ahead; 0 while that is not known. */
  clockOffset(): number {
    return this.#client?.clock.offsetMs ?? 0;
  }

  /** Takes a configuration over: calls under way end under the one that they began with. Resolves once the clock is set. */
  configure(configuration: Configuration): Promise<void> {
    const { timers, log, openTransport } = this.#options;
    const client: ApiClient = new ApiClient(configuration, {
      timers,
      log,
      transport: openTransport(configuration),
      onOpen: () => this.#onOpen(client),
    });
    this.#retire();
    this.#client = client;
    this.#reason = '';
    this.#queue.setConcurrency(configuration.config.maxConcurrent);
    this.#release();
    return client.clock.start();
  }

  /**
   * Calls are taken and wait, at most 30 s, until `configure` says where they go: the sidecar that this connector runs
   * itself is not up. Nothing of that counts for the circuit breaker.
   */
  holdCalls(settings: CallSettings): void {
    this.#retire();
    this.#hold?.end();
    this.#queue.pause();
    const end = this.#options.timers.after(LONGEST_HOLD_MS, () =>
      this.giveUpHold(
        `the sidecar of this server has not started within ${LONGEST_HOLD_MS / 1000} s; the console says why`,
      ),
    );
    this.#hold = { settings, end, over: null };
  }

  /** What waits ends, and nothing more waits, until `configure`. */
  giveUpHold(reason: string): void {
    if (this.#hold !== null) {
      this.#hold.end();
      this.#hold.over = reason;
      this.#queue.dropWaiting();
    }
  }

  /** There is no configuration to work with. One that is in use stays. */
  refuseCalls(reason: string): void {
    this.#reason = reason;
  }

  /** Takes no call from now on; those that were accepted go out. */
  refuseNew(reason: string): void {
    this.#closing = reason;
  }

  /** A bundle has stopped: nobody will collect its results. Its calls go out all the same. */
  forget(caller: string): void {
    this.#results.forget(caller);
  }

  /** Ends everything: sockets, timers, calls. Results that nobody collected are dropped. */
  async stop(): Promise<void> {
    this.#hold?.end();
    this.#hold = null;
    const clients = [...this.#retired, ...(this.#client === null ? [] : [this.#client])];
    this.#client = null;
    this.#reason = 'the connector has stopped';
    this.#results.clear();
    this.#queue.dropWaiting();
    await Promise.all(clients.map((client) => client.stop()));
  }

  /** Calls under way end under the client that they began with. */
  #retire(): void {
    const previous = this.#client;
    this.#client = null;
    if (previous !== null) {
      this.#retired.add(previous);
      void previous.retire().then(() => this.#retired.delete(previous));
    }
  }

  #release(): void {
    this.#hold?.end();
    this.#hold = null;
    this.#queue.resume();
  }

  #check({ texts, isTooLong, problem }: Question): CheckedCall {
    if (this.settings === undefined) {
      throw new Refusal('not_configured', this.#reason);
    }
    return checkCall(texts, isTooLong, this.settings.namespaces, problem);
  }

  #accept(call: CheckedCall, caller: string | undefined): string {
    if (this.#closing !== null) {
      throw new Refusal('unavailable', this.#closing);
    }
    const refusal = this.#queue.refusalFor(caller ?? null);
    if (refusal !== null) {
      throw new Refusal('busy', refusal);
    }
    const uncollected = this.#results.refusalFor(caller);
    if (uncollected !== null) {
      throw new Refusal('busy', uncollected);
    }
    if (this.#hold !== null && this.#hold.over !== null) {
      throw new Refusal('unavailable', this.#hold.over);
    }
    if (this.#client !== null && !this.#client.breaker.admit()) {
      throw new Refusal('unavailable', this.#client.breaker.refusal);
    }
    const accepted: AcceptedCall = {
      id: randomId(),
      call,
      caller: caller ?? null,
      trace: new CallTrace(this.#options.timers.elapsed()),
      wasHeld: this.isHolding,
    };
    this.#callers.accepted(accepted.caller);
    this.#results.open(accepted.id, caller);
    this.#queue.add({
      caller: accepted.caller,
      isLong: call.waitsForOthers,
      run: async () => this.#settle(accepted, await this.#run(accepted)),
      drop: () => this.#settle(accepted, this.#dropped()),
    });
    return accepted.id;
  }

  /** A call that waited begins under the configuration of now, which may no longer allow it. */
  async #run({ call, trace }: AcceptedCall): Promise<Result> {
    trace.begin(this.#options.timers.elapsed());
    try {
      if (this.#client === null) {
        return errorResult('not_configured', this.#reason);
      }
      if (call.namespace !== null) {
        checkNamespace(call.namespace, this.#client.config.namespaces);
      }
      return await this.#client.call(call, trace);
    } catch (error) {
      if (error instanceof Refusal) {
        return errorResult(error.code, error.reason);
      }
      this.#logInternal(error);
      return errorResult('internal', INTERNAL);
    }
  }

  #settle({ id, call, caller, trace, wasHeld }: AcceptedCall, result: Result): void {
    const now = this.#options.timers.elapsed();
    const tookMs = trace.tookMs(now);
    const { settings } = this;
    this.#callers.ended(caller, result, tookMs);
    if (settings !== undefined) {
      this.#results.settle(id, result, RESULT_LIFETIME_MS + 4 * settings.timeoutMs, call.isRead);
      if (!wasHeld && tookMs > settings.slowCallMs) {
        this.#slowCalls.note({ call, caller, tookMs, parts: trace.parts(now) }, settings.slowCallMs);
      }
    }
  }

  #dropped(): Result {
    return errorResult('unavailable', this.#hold?.over ?? this.#client?.breaker.refusal ?? this.#reason);
  }

  /** A client that a `db-reload` has replaced no longer speaks for what waits. */
  #onOpen(client: ApiClient): void {
    if (client === this.#client) {
      this.#options.log(
        `no usable answer from ${client.config.target.url}: ${client.breaker.refusal}; db-health tells why`,
        'bad',
      );
      this.#queue.dropWaiting();
    }
  }

  #logInternal(error: unknown): void {
    this.#options.log(`internal: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`, 'bad');
  }
}
