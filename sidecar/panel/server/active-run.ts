import { randomUUID } from 'node:crypto';
import { orLate } from '#sidecar/deadline.ts';
import type { LineSink } from '../console/console-log.ts';
import { PanelError } from '../panel-error.ts';
import type { Plan, ServerState } from '../shapes/server.ts';
import { HealthWatch } from './health.ts';
import type { ServerBackend } from './process/backends/backend.ts';
import { openBackend } from './process/backends/open-backend.ts';
import type { StandalonePlace } from './process/backends/standalone.ts';
import { childEnvironment } from './process/child-environment.ts';
import { LeftGroup } from './process/left-group.ts';
import { GameProcess } from './process/spawn.ts';
import { type RunRules, runRules } from './rules.ts';
import { RunCondition, type RunConditionOptions } from './run-condition.ts';
import type { RunMemory } from './run-memory.ts';
import { type RunEnd, type RunProcess, ServerRun } from './server-run.ts';

export interface ActiveRunOptions extends RunConditionOptions {
  readonly console: LineSink;
  readonly memory: RunMemory;
  readonly standalone: StandalonePlace;
  /** Of the sidecar, and which of it holds secrets. */
  readonly environment: NodeJS.ProcessEnv;
  readonly secretVariables: ReadonlySet<string>;
}

/** Panel contract, "Values": an FXServer that never answers counts as running then. */
const LONGEST_START_MS = 60_000;
/** Beyond its waits, until a group that was killed is given up. */
const MARGIN_MS = 10_000;

/** A server that runs, or is being ended: its process with what is known of it. */
export class ActiveRun {
  readonly startedAt: string | null;
  readonly ended: Promise<RunEnd>;
  readonly pid: number | null;
  readonly condition: RunCondition;
  /** Somebody wants it to be gone, even if it ends by itself before. */
  isUnwanted = false;
  readonly #options: ActiveRunOptions;
  readonly #run: ServerRun;
  readonly #beganAt = performance.now();
  /** null: an earlier sidecar has started it. */
  readonly #process: GameProcess | null;
  readonly #backend: ServerBackend | null;
  readonly #watch: HealthWatch | null;

  private constructor(options: ActiveRunOptions, leftPid: number | null) {
    this.#options = options;
    this.condition = new RunCondition(options);
    const backend = leftPid === null ? this.#newBackend() : null;
    this.#backend = backend;
    this.#process = backend === null ? null : this.#spawn(backend);
    this.pid = this.#process?.pid ?? leftPid;
    this.startedAt = this.#process === null ? null : new Date(options.now()).toISOString();
    this.#run = this.#newRun(this.#process ?? new LeftGroup(leftPid ?? 0));
    this.#watch = this.#newWatch();
    this.ended = this.#run.ended.finally(() => this.#watch?.stop());
    if (this.#process === null) this.#run.stop();
    else if (backend?.isUpAt === 'process' && this.pid !== null) setImmediate(() => this.#comeUp());
  }

  /** @throws LaunchError, or what the system says, where it cannot be started */
  static start(options: ActiveRunOptions): ActiveRun {
    return new ActiveRun(options, null);
  }

  static ofLeftGroup(pid: number, options: ActiveRunOptions): ActiveRun {
    return new ActiveRun(options, pid);
  }

  get isLeft(): boolean {
    return this.#process === null;
  }

  get state(): ServerState {
    if (this.#run.isStopping) return 'stopping';
    return this.condition.isUp ? 'running' : 'starting';
  }

  get isStopping(): boolean {
    return this.#run.isStopping;
  }

  /** null: nothing ends it. */
  get plan(): Plan | null {
    const { isStopping, steps, next } = this.#run;
    return isStopping ? { steps, next } : null;
  }

  get ranMs(): number {
    return performance.now() - this.#beganAt;
  }

  stop(): void {
    this.isUnwanted = true;
    this.#run.stop();
  }

  forceStop(): void {
    this.isUnwanted = true;
    this.#run.forceStop();
  }

  /** @throws PanelError `server.stopped`, `server.busy` */
  type(line: string, actor: string): void {
    if (this.#process === null || this.#process.isOver) throw new PanelError('server.stopped');
    if (!this.#process.write(line)) throw new PanelError('server.busy');
    this.#options.console.append('in', `${actor}> ${line}`);
    if (line.trim() === this.#rules().stopLine) this.#run.noteStopLine();
  }

  /** When it has gone, or when nothing is left that could end it. */
  async endedInTime(): Promise<void> {
    const { stopWaitMs, killWaitMs } = this.#rules();
    await orLate(this.ended, stopWaitMs + killWaitMs + MARGIN_MS, undefined);
  }

  #spawn(backend: ServerBackend): GameProcess {
    const run = randomUUID();
    const { environment, secretVariables, console, memory, say } = this.#options;
    const process = new GameProcess(backend.launch(), childEnvironment(environment, secretVariables, run), {
      onLine: (stream, text) => {
        console.append(stream, text);
        this.#watch?.noteOutput();
        if (backend.isUpAt === 'line') this.#comeUp();
      },
      onMessage: (message) => backend.take?.(message),
    });
    if (process.pid !== null) {
      // It runs all the same; only after a kill of the panel nobody would know of it.
      memory.note(process.pid, run).catch(() => say('The process id of the server could not be saved'));
      say(`The server runs as process ${process.pid}`);
    }
    return process;
  }

  #newRun(process: RunProcess): ServerRun {
    return new ServerRun({
      process,
      rules: () => this.#rules(),
      now: this.#options.now,
      ask: (stopLine) => this.#ask(stopLine),
      onChange: this.#options.onChange,
    });
  }

  #newWatch(): HealthWatch | null {
    const ask = this.#backend?.ask ?? null;
    if (ask === null || this.#process === null || this.pid === null) return null;
    return new HealthWatch({
      ask,
      process: this.#process,
      hangMs: () => this.#options.settings.values.hangSeconds * 1000,
      isStarting: () => !this.condition.isUp,
      longestStartMs: this.#backend?.isUpAt === 'answer' ? LONGEST_START_MS : null,
      onUp: () => this.#comeUp(),
      onHealth: (health) => this.condition.takeHealth(health),
      onHung: (silentMs) => this.#onHung(silentMs),
    });
  }

  /** The ladder goes on where it is not taken. */
  #ask(stopLine: string): void {
    this.#run.noteStopLine();
    if (this.#process?.write(stopLine)) this.#options.console.append('in', `panel> ${stopLine}`);
  }

  #comeUp(): void {
    if (!this.#process?.isOver) this.condition.comeUp();
  }

  #onHung(silentMs: number | null): void {
    if (silentMs === null) this.condition.recover();
    // One that is being ended need not answer.
    else if (!this.isStopping) this.condition.hang(silentMs);
  }

  #rules(): RunRules {
    return runRules(this.#options.settings.values, this.#backend);
  }

  #newBackend(): ServerBackend {
    const { settings, standalone } = this.#options;
    return openBackend(settings.values, standalone, (bundles) => this.condition.takeBundles(bundles));
  }
}
