import { orLate } from '#sidecar/deadline.ts';
import { PanelError } from '../panel-error.ts';
import type { SettingValues } from '../settings/panel-settings.ts';
import type { BundleInfo } from '../shapes/bundles.ts';
import type { ServerAction, ServerStatus } from '../shapes/server.ts';
import { checkCommandText } from './command-text.ts';
import type { CrashRecords } from './crashes.ts';
import { keptRunOf, readKeptRun } from './kept-run.ts';
import { LiveRun, type LiveRunOptions, type RunOrigin } from './live-run.ts';
import { next, type RunEvent } from './next.ts';
import { type Health, LaunchError } from './process/backends/backend.ts';
import { type RunRules, runRules } from './rules.ts';
import type { StartWatch } from './start-watch.ts';
import { type ControlState, type CrashFacts, dueAt, type Effect, initialState, isActive, type Next } from './state.ts';
import { serverStatus } from './status.ts';

/** Beyond its waits, until a group that was killed is given up. */
const MARGIN_MS = 10_000;

export interface ServerControlOptions extends Omit<LiveRunOptions, 'hangLimitMs'> {
  readonly crashes: Pick<CrashRecords, 'add'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/**
 * The one game server of this panel: its state, to which `next` alone gives the state that follows, and the effects of each
 * event. All of it runs in one go on this thread, so that each of fifty simultaneous clicks meets the state that the click
 * before it has made.
 */
export class ServerControl {
  readonly #options: ServerControlOptions;
  readonly #listeners = new Set<(status: ServerStatus) => void>();
  readonly #bundleListeners = new Set<() => void>();
  readonly #startListeners = new Set<() => void>();
  #state: ControlState;
  #shown: ControlState;
  #live: LiveRun | null = null;
  #watch: StartWatch | null = null;
  #timer: NodeJS.Timeout | undefined;
  #timerAt: number | null = null;
  #hasLetGo = false;
  /** Settings by which the present run was started. */
  #started: Pick<SettingValues, 'backend' | 'serverRoot'> | null = null;

  constructor(options: ServerControlOptions) {
    this.#options = options;
    this.#state = initialState(!options.memory.isEmpty);
    this.#shown = this.#state;
    options.settings.onChange(({ restartHungServer }, before) => {
      this.#apply({ type: 'settings', turnsOnHung: restartHungServer && !before.restartHungServer });
      // The status shows settings too.
      this.#show();
    });
  }

  /** Ends a server that an earlier sidecar left running, and starts the server if it starts with the panel. */
  async open(): Promise<void> {
    const { processes, memory } = this.#options;
    const { keeping } = processes;
    const kept = readKeptRun(keeping?.note ?? null);
    if (keeping !== null && keeping.heldPid !== null && kept !== null) {
      this.#apply({ type: 'opened', left: null, held: { pid: keeping.heldPid, kept } });
      return;
    }
    const wasStopped = keeping?.isResumed === true && kept?.phase === 'stopped';
    this.#apply({ type: 'opened', left: await memory.findLeftGroup(), wasStopped });
  }

  /** Ends the control and leaves the server to the next sidecar. */
  async letGo(): Promise<void> {
    this.#hasLetGo = true;
    clearTimeout(this.#timer);
    this.#live?.close();
    this.#live = null;
    await this.#options.processes.keeping?.letGo();
  }

  status(): ServerStatus {
    return serverStatus(this.#state, this.#options.settings.values);
  }

  /** Called at each change, at once. */
  onStatus(listener: (status: ServerStatus) => void): void {
    this.#listeners.add(listener);
  }

  /** Before `open`. */
  watchStarts(watch: StartWatch): void {
    this.#watch = watch;
  }

  /** Called right before each start, also one that fails; it may change settings. */
  onStart(listener: () => void): void {
    this.#startListeners.add(listener);
  }

  /** null: nothing runs, or the server does not report them. */
  bundles(): readonly BundleInfo[] | null {
    return this.#live?.bundles ?? null;
  }

  /** Called when `bundles()`, or the resources of `health()`, have changed. */
  onBundles(listener: () => void): void {
    this.#bundleListeners.add(listener);
  }

  /** Tells a running server that folders of bundles have come or gone. */
  rereadBundles(): void {
    if (this.#live !== null) this.#live.backend?.reread?.(this.#live.process);
  }

  /** null: nothing runs, or the server does not report it. */
  health(): Health | null {
    return this.#live?.health ?? null;
  }

  /** @throws PanelError `server.running`, `server.busy`, `server.elsewhere`, `server.unconfigured` */
  start(actor: string): ServerStatus {
    return this.#act('start', actor);
  }

  /** @throws PanelError `server.stopped`, `server.elsewhere` */
  stop(actor: string): ServerStatus {
    return this.#act('stop', actor);
  }

  /** @throws PanelError `server.busy`, `server.elsewhere`, `server.unconfigured` */
  restart(actor: string): ServerStatus {
    return this.#act('restart', actor);
  }

  /** @throws PanelError `server.elsewhere` */
  forceStop(actor: string): ServerStatus {
    return this.#act('force-stop', actor);
  }

  /**
   * Types a line into the server's console.
   *
   * @param actor the account, as the console shows it
   * @throws PanelError `command.text`, `server.stopped`, `server.busy` if the server does not read, `server.elsewhere`
   */
  sendCommand(text: unknown, actor: string): void {
    const line = checkCommandText(text);
    const rules = this.#rules();
    if (rules.isElsewhere) throw new PanelError('server.elsewhere');
    const { run } = this.#state;
    const hasConsole = isActive(run) && run.startedAt !== null && run.pid !== null && run.exit === null;
    if (!hasConsole || this.#live === null) throw new PanelError('server.stopped');
    if (!this.#live.process.write(line)) throw new PanelError('server.busy');
    this.#options.console.append('in', `${actor}> ${line}`);
    if (line.trim() === rules.stopLine) this.#apply({ type: 'stop-line' });
  }

  /** Stops the server as an account would. Resolves when it has ended, at the latest after its waits and some seconds. */
  async close(): Promise<void> {
    this.#apply({ type: 'closing' });
    const live = this.#live;
    if (live === null) return;
    const { stopWaitMs, killWaitMs } = this.#rules();
    await orLate(live.ended, stopWaitMs + killWaitMs + MARGIN_MS, undefined);
    if (this.#live !== live) return;
    this.#release();
    this.#apply({ type: 'given-up' });
  }

  #act(type: ServerAction, actor: string): ServerStatus {
    const { refusal } = this.#apply({ type, actor });
    if (refusal !== undefined) throw new PanelError(refusal);
    return this.status();
  }

  /** The only place that changes the state. */
  #apply(event: RunEvent): Next {
    if (this.#hasLetGo) return { state: this.#state, effects: [], refusal: 'server.busy' };
    const now = { epochMs: this.#options.now(), monotonicMs: performance.now() };
    const following = next(this.#state, event, { rules: this.#rules(), now });
    this.#state = following.state;
    for (const effect of following.effects) this.#run(effect);
    this.#setTimer();
    if (this.#shown !== this.#state) this.#show();
    return following;
  }

  #run(effect: Effect): void {
    const { console, memory } = this.#options;
    switch (effect.type) {
      case 'say':
        console.append('panel', effect.text);
        break;
      case 'launch':
        this.#launch(effect.why);
        break;
      case 'adopt':
        this.#live = this.#newRun({ kind: 'left', pid: effect.pid });
        break;
      case 'resume':
        this.#started = effect.held.kept;
        this.#live = this.#newRun({ kind: 'held', ...effect.held });
        break;
      case 'type-line':
        // A ladder goes on if the line is not taken.
        if (this.#live?.process.write(effect.line)) console.append('in', `panel> ${effect.line}`);
        break;
      case 'signal':
        this.#live?.process.signal(effect.signal);
        break;
      case 'record-crash':
        this.#recordCrash(effect.crash);
        break;
      case 'forget':
        memory.forget();
        break;
      case 'release':
        this.#release();
        break;
      default:
        effect satisfies never;
    }
  }

  #launch(why: string): void {
    this.#options.console.beginRun();
    this.#options.console.append('panel', why);
    this.#watch?.beforeLaunch();
    for (const listener of this.#startListeners) listener();
    this.#started = this.#options.settings.values;
    try {
      this.#live = this.#newRun({ kind: 'new' });
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error);
      this.#apply({ type: 'not-launched', failure, isSetting: error instanceof LaunchError });
      return;
    }
    this.#apply({ type: 'launched', pid: this.#live.process.pid });
  }

  #newRun(origin: RunOrigin): LiveRun {
    const live: LiveRun = new LiveRun(
      { ...this.#options, hangLimitMs: () => this.#watch?.hangMs() ?? null },
      {
        isUp: () => isActive(this.#state.run) && this.#state.run.isUp,
        // News of a run that was given up come too late.
        onEvent: (event) => {
          if (this.#live === live) this.#apply(event);
        },
        onBundles: () => this.#showBundles(),
      },
      origin,
    );
    return live;
  }

  #release(): void {
    this.#live?.close();
    this.#live = null;
    this.#showBundles();
  }

  #recordCrash(crash: CrashFacts): void {
    try {
      this.#options.crashes.add({ ...crash, bundles: this.bundles(), note: this.#watch?.note() ?? null });
    } catch (error) {
      // A disk that is full must not keep the server down.
      const reason = error instanceof Error ? error.message : String(error);
      this.#options.console.append('panel', `This crash could not be recorded: ${reason}`);
    }
  }

  #setTimer(): void {
    const at = dueAt(this.#state);
    if (at === this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    if (at === null) return;
    this.#timer = setTimeout(() => {
      this.#timerAt = null;
      this.#apply({ type: 'due' });
    }, at - performance.now());
  }

  #rules(): RunRules {
    return runRules(this.#options.settings.values, this.#live?.backend ?? null);
  }

  #show(): void {
    this.#shown = this.#state;
    const { processes, settings } = this.#options;
    processes.keeping?.keep(JSON.stringify(keptRunOf(this.#state.run, this.#started ?? settings.values)));
    const status = this.status();
    for (const listener of this.#listeners) listener(status);
  }

  #showBundles(): void {
    for (const listener of this.#bundleListeners) listener();
  }
}
