import { randomUUID } from 'node:crypto';
import type { LineSink } from '../console/console-log.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import type { BundleInfo } from '../shapes/bundles.ts';
import { HealthWatch } from './health.ts';
import type { ProcessEvent } from './next.ts';
import type { Health, ServerBackend } from './process/backends/backend.ts';
import { openBackend } from './process/backends/open-backend.ts';
import type { StandalonePlace } from './process/backends/standalone.ts';
import { childEnvironment } from './process/child-environment.ts';
import type { GameProcess, ProcessOwner, ProcessReader } from './process/game-process.ts';
import type { RunMemory } from './run-memory.ts';
import type { HeldRun } from './state.ts';

export interface LiveRunOptions {
  readonly settings: PanelSettings;
  readonly console: LineSink;
  readonly memory: RunMemory;
  readonly processes: ProcessOwner;
  readonly standalone: StandalonePlace;
  /** Environment of the sidecar; `secretVariables` names the variables that hold secrets. */
  readonly environment: NodeJS.ProcessEnv;
  readonly secretVariables: ReadonlySet<string>;
  /** A shorter limit of silence than the setting; null: the setting counts. */
  readonly hangLimitMs: () => number | null;
}

/** Process of a run: a new one, one that an earlier sidecar left, or one that outlived the sidecar before this one. */
export type RunOrigin =
  | { readonly kind: 'new' }
  | { readonly kind: 'left'; readonly pid: number }
  | ({ readonly kind: 'held' } & HeldRun);

/** Receives all news of a run. */
export interface RunReader {
  readonly isUp: () => boolean;
  readonly onEvent: (event: ProcessEvent) => void;
  /** Bundles, or the resources of `health`, have changed. */
  readonly onBundles: () => void;
}

/** Panel contract, "Values": an FXServer that never answers counts as running then. */
const LONGEST_START_MS = 60_000;
/** Resources of the largest servers; any script can print such a line. */
const MAX_TOLD = 4000;

/** Process of the current run, and what the server reports of itself. Decides nothing: its news are events of the server control. */
export class LiveRun {
  readonly process: GameProcess;
  /** null: an earlier sidecar has started the process. */
  readonly backend: ServerBackend | null;
  bundles: readonly BundleInfo[] | null = null;
  readonly #end = Promise.withResolvers<void>();
  readonly ended = this.#end.promise;
  readonly #options: LiveRunOptions;
  readonly #reader: RunReader;
  readonly #run = randomUUID();
  /** The console since the start of the process is known, and names what starts and stops. */
  readonly #isTold: boolean;
  /** Started by what the console has told; null: nothing so far. */
  #told: Set<string> | null = null;
  #answer: Health | null = null;
  #watch: HealthWatch | null = null;

  /** @throws LaunchError, or the system's error, if the server cannot be started */
  constructor(options: LiveRunOptions, reader: RunReader, origin: RunOrigin) {
    this.#options = options;
    this.#reader = reader;
    this.backend = this.#openBackend(origin);
    this.#isTold = origin.kind === 'new' && this.backend?.readLine !== undefined;
    this.process = this.#openProcess(origin);
    if (origin.kind === 'new' && this.process.pid !== null) this.#takeStart(this.process.pid);
    if (origin.kind === 'held' && this.backend?.ask) this.#watch = this.#newWatch(this.backend.ask);
  }

  /** The server's last answer. Resources that no answer names are those of its console. */
  get health(): Health | null {
    if (this.#told === null || this.#answer?.resources) return this.#answer;
    return { players: this.#answer?.players ?? null, resources: [...this.#told] };
  }

  /** Ends the health checks, and resolves `ended`. */
  close(): void {
    this.#watch?.stop();
    this.#end.resolve();
  }

  #openBackend(origin: RunOrigin): ServerBackend | null {
    const { settings, standalone } = this.#options;
    if (origin.kind === 'left') return null;
    const { values } = settings;
    const started = origin.kind === 'held' ? { backend: origin.kept.backend, serverRoot: origin.kept.serverRoot } : {};
    return openBackend({ ...values, ...started }, standalone, (bundles) => this.#takeBundles(bundles));
  }

  #openProcess(origin: RunOrigin): GameProcess {
    const { environment, secretVariables, processes } = this.#options;
    const reader = this.#processReader();
    if (origin.kind === 'left') return processes.adopt(origin.pid, reader);
    if (origin.kind === 'held' && processes.keeping !== null) return processes.keeping.resume(origin.pid, reader);
    const launch = (this.backend as ServerBackend).launch();
    return processes.start(launch, childEnvironment(environment, secretVariables, this.#run), reader);
  }

  #takeStart(pid: number): void {
    const { console, memory } = this.#options;
    // The server runs without it; only after a kill of the panel it would not be found.
    memory.note(pid, this.#run).catch(() => console.append('panel', 'The process id of the server could not be saved'));
    if (this.backend?.ask) this.#watch = this.#newWatch(this.backend.ask);
    if (this.backend?.isUpAt === 'process') setImmediate(() => this.#reader.onEvent({ type: 'up' }));
  }

  #processReader(): ProcessReader {
    const { onEvent, isUp } = this.#reader;
    return {
      onStart: (pid) => {
        onEvent({ type: 'launched', pid });
        this.#takeStart(pid);
      },
      onOutput: (stream, text, time) => {
        this.#options.console.append(stream, text, time);
        this.#watch?.noteOutput();
        this.#readLine(text);
        if (this.backend?.isUpAt === 'line' && !isUp()) onEvent({ type: 'up' });
      },
      onMessage: (message) => this.backend?.take?.(message),
      onExit: (exit, hasMembers) => onEvent({ type: 'exited', exit, hasMembers }),
      onEnd: (isLeftOver) => onEvent({ type: 'ended', isLeftOver }),
    };
  }

  #newWatch(ask: NonNullable<ServerBackend['ask']>): HealthWatch {
    const { onEvent, isUp } = this.#reader;
    return new HealthWatch({
      ask,
      process: this.process,
      hangMs: () => this.#hangMs(),
      isStarting: () => !isUp(),
      longestStartMs: this.backend?.isUpAt === 'answer' ? LONGEST_START_MS : null,
      onUp: () => onEvent({ type: 'up' }),
      onHealth: (health) => this.#takeHealth(health),
      onHung: (silentMs) => onEvent(silentMs === null ? { type: 'well' } : { type: 'hung', silentMs }),
    });
  }

  #hangMs(): number {
    const { settings, hangLimitMs } = this.#options;
    return Math.min(settings.values.hangSeconds * 1000, hangLimitMs() ?? Number.POSITIVE_INFINITY);
  }

  #readLine(text: string): void {
    const line = this.#isTold ? (this.backend?.readLine?.(text) ?? null) : null;
    if (line === null) return;
    this.#told ??= new Set();
    if (!line.hasStarted) this.#told.delete(line.name);
    else if (this.#told.size < MAX_TOLD) this.#told.add(line.name);
    this.#reader.onBundles();
  }

  #takeBundles(bundles: readonly BundleInfo[]): void {
    this.bundles = bundles;
    this.#reader.onBundles();
  }

  #takeHealth(health: Health): void {
    const before = this.health?.resources?.join();
    this.#answer = health;
    if (this.health?.resources?.join() !== before) this.#reader.onBundles();
  }
}
