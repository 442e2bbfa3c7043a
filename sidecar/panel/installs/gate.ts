import type { BundleInfo } from '../shapes/bundles.ts';
import type { Backend, ServerStatus } from '../shapes/server.ts';
import { type GateLines, LineWatch } from './line-watch.ts';

export type Verdict =
  /** `notes`: errors of scripts that did not count, by bundle. */
  | { readonly type: 'kept'; readonly notes: ReadonlyMap<string, string> }
  /** The server runs; a bundle has failed. */
  | { readonly type: 'failed'; readonly reason: string }
  /** The server is down. */
  | { readonly type: 'crashed'; readonly reason: string }
  /** The server runs and does not answer. */
  | { readonly type: 'hung'; readonly reason: string }
  /** An account stopped or restarted the server, or stopped a bundle. */
  | { readonly type: 'ended' };

export interface GateOptions {
  readonly backend: Backend;
  readonly lines: GateLines;
  readonly list: () => Promise<readonly BundleInfo[]>;
  /** Bundles that have to come up and stay up. */
  readonly expected: readonly string[];
  readonly gateMs: number;
  readonly startMs?: number;
  /** Called at once with the verdict, in the very step that finds it. */
  readonly onVerdict: (verdict: Verdict) => void;
}

const START_MS = 60_000;
const LOOK_MS = 50;
/** Longest wait for the line of a reported failure. */
const LINE_MS = 1000;

/** Watches the server and its bundles after a switch, until the new versions have proven themselves or have not. */
export class Gate {
  readonly #options: GateOptions;
  readonly #watch: LineWatch;
  readonly #timer: NodeJS.Timeout;
  /** When the server was up first; the time of the bundles counts from then. */
  #serverUpAt: number | null = null;
  readonly #decided = Promise.withResolvers<Verdict>();
  /** Resolves with the verdict. */
  readonly verdict = this.#decided.promise;
  #allUpAt: number | null = null;
  #failedAt: number | null = null;
  #isOver = false;
  #isLooking = false;
  /** Process of the watched run. */
  #pid: number | null = null;

  constructor(options: GateOptions) {
    this.#options = options;
    this.#watch = new LineWatch(options.lines, options.backend);
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Every status of the server, at once. */
  take(status: Pick<ServerStatus, 'state' | 'pid' | 'hungSince' | 'exit' | 'failure'>): void {
    const { state, pid, hungSince } = status;
    if (state === 'crashed') this.#decide({ type: 'crashed', reason: `the server ended: ${endOf(status)}` });
    else if (hungSince !== null) this.#decide({ type: 'hung', reason: 'the server did not answer' });
    else if (state === 'stopped' || (this.#pid !== null && pid !== null && pid !== this.#pid))
      this.#decide({ type: 'ended' });
    this.#pid ??= pid;
    if (state === 'running') this.#serverUpAt ??= performance.now();
  }

  /** The panel ends, or another switch takes over. */
  end(): void {
    this.#decide({ type: 'ended' });
  }

  async #look(): Promise<void> {
    if (this.#isLooking || this.#isOver) return;
    this.#isLooking = true;
    try {
      this.#judge(await this.#options.list());
    } finally {
      this.#isLooking = false;
    }
  }

  #judge(bundles: readonly BundleInfo[]): void {
    const { expected, gateMs, startMs = START_MS } = this.#options;
    const states = expected.map((name) => [name, this.#stateOf(name, bundles)] as const);
    const failed = states.find(([, state]) => state === 'failed');
    if (failed !== undefined) {
      this.#judgeFailed(failed[0]);
      return;
    }
    if (this.#serverUpAt === null) return;
    const down = states.find(([, state]) => state !== 'up');
    const now = performance.now();
    if (down === undefined) {
      this.#allUpAt ??= now;
      if (now - this.#allUpAt >= gateMs) this.#decide({ type: 'kept', notes: this.#notes() });
    } else if (this.#allUpAt !== null) this.#decide({ type: 'ended' });
    else if (now - this.#serverUpAt >= startMs) {
      this.#decide({ type: 'failed', reason: `${down[0]} was not up within ${startMs / 1000} s` });
    }
  }

  /** The report of the bundles and the console come by two pipes: the line may be the later one. */
  #judgeFailed(name: string): void {
    const reason = this.#watch.failureOf(name);
    const now = performance.now();
    this.#failedAt ??= now;
    if (reason === null && now - this.#failedAt < LINE_MS) return;
    this.#decide({ type: 'failed', reason: `${name} failed: ${reason ?? 'see the console'}` });
  }

  #stateOf(name: string, bundles: readonly BundleInfo[]): 'up' | 'down' | 'failed' {
    if (this.#options.backend === 'fxserver') return this.#fxStateOf(name);
    // Standalone reports its bundles; there a line is only the reason, which any script could print.
    const state = bundles.find((bundle) => bundle.name === name)?.state;
    if (state === 'failed') return 'failed';
    return state === 'started' ? 'up' : 'down';
  }

  /** By the console alone: FXServer is asked for its resources every few seconds, and may still report the old version. */
  #fxStateOf(name: string): 'up' | 'down' | 'failed' {
    if (this.#watch.failureOf(name) !== null) return 'failed';
    return this.#watch.hasStarted(name) ? 'up' : 'down';
  }

  #notes(): Map<string, string> {
    const notes = new Map<string, string>();
    for (const name of this.#options.expected) {
      const errors = this.#watch.errorsOf(name);
      if (errors !== null) notes.set(name, `${errors.count} script errors, the first: ${errors.first}`);
    }
    return notes;
  }

  #decide(verdict: Verdict): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#watch.close();
    this.#options.onVerdict(verdict);
    this.#decided.resolve(verdict);
  }
}

function endOf({ exit, failure }: Pick<ServerStatus, 'exit' | 'failure'>): string {
  if (failure !== null) return failure;
  if (exit?.signal !== null && exit?.signal !== undefined) return `signal ${exit.signal}`;
  return `exit code ${exit?.code ?? 'unknown'}`;
}
