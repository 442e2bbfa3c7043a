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

export interface LiveRunOptions {
  readonly settings: PanelSettings;
  readonly console: LineSink;
  readonly memory: RunMemory;
  readonly processes: ProcessOwner;
  readonly standalone: StandalonePlace;
  /** Environment of the sidecar; `secretVariables` names the variables that hold secrets. */
  readonly environment: NodeJS.ProcessEnv;
  readonly secretVariables: ReadonlySet<string>;
}

/** Receives all news of a run. */
export interface RunReader {
  readonly isUp: () => boolean;
  readonly onEvent: (event: ProcessEvent) => void;
  /** Bundles, or the resources of `health`, have changed. */
  readonly onBundles: () => void;
}

/** Panel contract, "Values": an FXServer that never answers counts as running then. */
const LONGEST_START_MS = 60_000;

/** Process of the current run, and what the server reports of itself. Decides nothing: its news are events of the server control. */
export class LiveRun {
  readonly process: GameProcess;
  /** null: an earlier sidecar has started the process. */
  readonly backend: ServerBackend | null;
  health: Health | null = null;
  bundles: readonly BundleInfo[] | null = null;
  readonly #end = Promise.withResolvers<void>();
  readonly ended = this.#end.promise;
  readonly #options: LiveRunOptions;
  readonly #reader: RunReader;
  readonly #watch: HealthWatch | null;

  /** @throws LaunchError, or the system's error, if the server cannot be started */
  constructor(options: LiveRunOptions, reader: RunReader, leftPid: number | null) {
    const { settings, standalone, processes } = options;
    this.#options = options;
    this.#reader = reader;
    this.backend =
      leftPid === null ? openBackend(settings.values, standalone, (bundles) => this.#takeBundles(bundles)) : null;
    this.process =
      this.backend === null ? processes.adopt(leftPid ?? 0, this.#processReader()) : this.#start(this.backend);
    this.#watch = this.backend?.ask && this.process.pid !== null ? this.#newWatch(this.backend.ask) : null;
    if (this.backend?.isUpAt === 'process' && this.process.pid !== null)
      setImmediate(() => reader.onEvent({ type: 'up' }));
  }

  /** Ends the health checks, and resolves `ended`. */
  close(): void {
    this.#watch?.stop();
    this.#end.resolve();
  }

  #start(backend: ServerBackend): GameProcess {
    const { environment, secretVariables, console, memory, processes } = this.#options;
    const run = randomUUID();
    const child = childEnvironment(environment, secretVariables, run);
    const process = processes.start(backend.launch(), child, this.#processReader());
    if (process.pid !== null) {
      // The server runs without it; only after a kill of the panel it would not be found.
      memory
        .note(process.pid, run)
        .catch(() => console.append('panel', 'The process id of the server could not be saved'));
    }
    return process;
  }

  #processReader(): ProcessReader {
    const { onEvent, isUp } = this.#reader;
    return {
      onOutput: (stream, text) => {
        this.#options.console.append(stream, text);
        this.#watch?.noteOutput();
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
      hangMs: () => this.#options.settings.values.hangSeconds * 1000,
      isStarting: () => !isUp(),
      longestStartMs: this.backend?.isUpAt === 'answer' ? LONGEST_START_MS : null,
      onUp: () => onEvent({ type: 'up' }),
      onHealth: (health) => this.#takeHealth(health),
      onHung: (silentMs) => onEvent(silentMs === null ? { type: 'well' } : { type: 'hung', silentMs }),
    });
  }

  #takeBundles(bundles: readonly BundleInfo[]): void {
    this.bundles = bundles;
    this.#reader.onBundles();
  }

  #takeHealth(health: Health): void {
    const before = this.health?.resources?.join() ?? '';
    this.health = health;
    if ((health.resources?.join() ?? '') !== before) this.#reader.onBundles();
  }
}
