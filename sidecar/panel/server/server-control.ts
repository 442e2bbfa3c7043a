import type { LineSink } from '../console/console-log.ts';
import { PanelError } from '../panel-error.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import type { BundleInfo } from '../shapes/bundles.ts';
import type { Plan, ServerExit, ServerState, ServerStatus } from '../shapes/server.ts';
import { ActiveRun, type ActiveRunOptions } from './active-run.ts';
import { checkCommandText } from './command-text.ts';
import type { CrashRecords } from './crash-records.ts';
import { describeExit, describePlan } from './describe-run.ts';
import { SelfStart } from './self-start.ts';
import { type Health, LaunchError } from './server-backend.ts';
import type { RunEnd } from './server-run.ts';

export interface ServerControlOptions
  extends Omit<ActiveRunOptions, 'onChange' | 'onRestartDue' | 'onBundles' | 'say'> {
  readonly settings: PanelSettings;
  readonly console: LineSink;
  readonly crashes: CrashRecords;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/**
 * The one game server of this panel: starts it, stops it, starts it again. Everything that decides runs in one go on this
 * thread, so that of fifty clicks at once each meets the state that the one before it has made.
 */
export class ServerControl {
  readonly #options: ServerControlOptions;
  readonly #selfStart: SelfStart;
  readonly #listeners = new Set<(status: ServerStatus) => void>();
  readonly #bundleListeners = new Set<() => void>();
  #run: ActiveRun | null = null;
  /** While nothing runs. */
  #rest: 'stopped' | 'crashed' = 'stopped';
  #exit: ServerExit | null = null;
  /** Once it has stopped. */
  #isToStart = false;
  /** From a restart until it runs. */
  #isRestarting = false;
  #isOpen = false;
  #isClosing = false;

  constructor(options: ServerControlOptions) {
    this.#options = options;
    const start = (why: string) => this.#launch(why);
    this.#selfStart = new SelfStart({ start, say: (text) => this.#say(text), now: options.now });
    options.settings.onChange(() => this.#onSettings());
  }

  /** Ends what an earlier sidecar has left running, and starts the server where it starts with the panel. */
  async open(): Promise<void> {
    const left = await this.#options.memory.findLeftGroup();
    this.#isOpen = true;
    const { autoStartServer, backend } = this.#options.settings.values;
    const starts = autoStartServer && backend !== 'none';
    if (this.#run !== null) return;
    if (left === null) {
      this.#options.memory.forget();
      if (starts) this.#launch('The server starts with the panel');
      return;
    }
    this.#isToStart = starts;
    this.#say(`A server that an earlier run of the panel has left behind (process ${left}) is ended`);
    this.#follow(ActiveRun.ofLeftGroup(left, this.#runOptions()));
  }

  status(): ServerStatus {
    const { serverRoot, backend } = this.#options.settings.values;
    return {
      state: this.#state,
      pid: this.#run?.pid ?? null,
      serverRoot,
      startedAt: this.#run?.startedAt ?? null,
      exit: this.#exit,
      plan: this.#plan(),
      backend,
      hungSince: this.#run?.condition.hungSince ?? null,
      gaveUp: this.#selfStart.gaveUp,
    };
  }

  /** Called at each change, at once. */
  onStatus(listener: (status: ServerStatus) => void): void {
    this.#listeners.add(listener);
  }

  /** null: nothing runs, or nothing tells them. */
  bundles(): readonly BundleInfo[] | null {
    return this.#run?.condition.bundles ?? null;
  }

  /** Called when `bundles()`, or the resources of `health()`, are others. */
  onBundles(listener: () => void): void {
    this.#bundleListeners.add(listener);
  }

  /** What the server tells of itself; null: nothing. */
  health(): Health | null {
    return this.#run?.condition.health ?? null;
  }

  /** @throws PanelError `server.running`, `server.busy`, `server.elsewhere` */
  start(actor: string): ServerStatus {
    this.#mustControl();
    if (this.#run !== null) throw new PanelError('server.running');
    this.#mustBeOpen();
    this.#selfStart.clear();
    this.#launch(`${actor} starts the server`);
    return this.status();
  }

  /** @throws PanelError `server.stopped`, `server.elsewhere` */
  stop(actor: string): ServerStatus {
    this.#mustControl();
    if (this.#run === null && this.#rest === 'stopped') throw new PanelError('server.stopped');
    if (this.#run === null) this.#settle(actor);
    else this.#stopRun(this.#run, actor, false);
    return this.status();
  }

  /** @throws PanelError `server.busy`, `server.elsewhere` */
  restart(actor: string): ServerStatus {
    this.#mustControl();
    if (this.#isRestarting || this.#run?.isStopping) throw new PanelError('server.busy');
    this.#mustBeOpen();
    this.#selfStart.clear();
    this.#isRestarting = true;
    if (this.#run === null) this.#launch(`${actor} restarts the server`);
    else this.#stopRun(this.#run, actor, true);
    return this.status();
  }

  /** @throws PanelError `server.elsewhere` */
  forceStop(actor: string): ServerStatus {
    this.#mustControl();
    this.#isToStart = false;
    this.#isRestarting = false;
    if (this.#run !== null) {
      this.#say(`${actor} ends the server by force`);
      this.#run.forceStop();
      this.#emit();
    } else if (this.#rest === 'crashed') this.#settle(actor);
    return this.status();
  }

  /**
   * Types a line into the server's console.
   *
   * @param actor the account, as the console shows it
   * @throws PanelError `command.text`, `server.stopped`, `server.busy` where it does not read, `server.elsewhere`
   */
  sendCommand(text: unknown, actor: string): void {
    const line = checkCommandText(text);
    this.#mustControl();
    if (this.#run === null) throw new PanelError('server.stopped');
    this.#run.type(line, actor);
  }

  /** Stops the server as a person would. Resolves when it has gone, at the latest when its waits and some seconds are over. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#isToStart = false;
    this.#selfStart.cancel();
    if (this.#run === null) return;
    if (!this.#run.isStopping) this.#stopRun(this.#run, 'The panel', false);
    await this.#run.endedInTime();
    this.#run = null;
  }

  get #state(): ServerState {
    return this.#run?.state ?? this.#rest;
  }

  #plan(): Plan | null {
    if (this.#run === null) return this.#selfStart.plan;
    if (!this.#run.isStopping) return null;
    const { steps, next } = this.#run;
    const last = steps.at(-1);
    if (!this.#isToStart || last === undefined) return { steps, next };
    return { steps: [...steps, { action: 'start', at: last.at }], next };
  }

  #launch(why: string): void {
    this.#isOpen = true;
    this.#selfStart.cancel();
    this.#isToStart = false;
    this.#options.console.beginRun();
    this.#say(why);
    try {
      this.#follow(ActiveRun.start(this.#runOptions()));
    } catch (error) {
      this.#say(`The server cannot be started: ${error instanceof Error ? error.message : String(error)}`);
      this.#exit = { code: null, signal: null, reason: 'spawn' };
      this.#selfStart.gaveUp = error instanceof LaunchError ? 'launch' : null;
      this.#comeToRest('crashed');
    }
  }

  #follow(run: ActiveRun): void {
    this.#run = run;
    void run.ended.then((end) => this.#onEnded(run, end));
    this.#emit();
  }

  /** An owner who turns autostart off while a server crashes again and again means this one. */
  #onSettings(): void {
    if (!this.#options.settings.values.autoStartServer && this.#selfStart.isPending) this.#selfStart.cancel();
    this.#emit();
  }

  #runOptions(): ActiveRunOptions {
    const say = (text: string) => this.#say(text);
    const onBundles = () => this.#emitBundles();
    const onRestartDue = () => this.#restartHung();
    return { ...this.#options, say, onBundles, onRestartDue, onChange: () => this.#onRunChange() };
  }

  #onRunChange(): void {
    if (this.#run?.state === 'running') this.#isRestarting = false;
    this.#emit();
  }

  #restartHung(): void {
    if (this.#run !== null && this.#selfStart.mayRestartHung()) this.#stopRun(this.#run, 'The panel', true);
  }

  #stopRun(run: ActiveRun, actor: string, isToStart: boolean): void {
    const wasToStart = this.#isToStart;
    this.#isToStart = isToStart;
    if (!isToStart) this.#isRestarting = false;
    if (!run.isStopping) {
      run.stop();
      this.#say(
        `${actor} ${isToStart ? 'restarts' : 'stops'} the server: ${describePlan(run.steps, this.#options.now())}`,
      );
    } else {
      run.stop();
      if (wasToStart && !isToStart) this.#say(`${actor} stops the server; it is not started again`);
    }
    this.#emit();
  }

  #onEnded(run: ActiveRun, end: RunEnd): void {
    // The panel has waited long enough for it, and is gone.
    if (this.#run !== run) return;
    this.#run = null;
    this.#options.memory.forget();
    const isToStart = this.#isToStart && !this.#isClosing;
    if (!run.isLeft) {
      this.#exit = exitOf(end);
      this.#say(describeExit(end));
    }
    if (end.isLeftOver)
      this.#say('Some processes of the server do not end, not even by force; the system has to be asked about them');
    this.#emitBundles();
    if (!run.isLeft && !end.isAsked) this.#noteCrash(run, end);
    if (isToStart) this.#launch('The server is started again');
    else if (run.isUnwanted || end.isAsked) this.#comeToRest('stopped');
    else this.#onCrash(run);
  }

  #noteCrash(run: ActiveRun, end: RunEnd): void {
    const { isUp, bundles } = run.condition;
    const { startedAt } = run;
    try {
      this.#options.crashes.add({ exit: exitOf(end), failure: end.failure, startedAt, isUp, bundles });
    } catch (error) {
      // A disk that is full must not keep the server down.
      this.#say(`There is no record of this crash: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #onCrash(run: ActiveRun): void {
    if (this.#options.settings.values.autoStartServer && !this.#isClosing) this.#selfStart.afterCrash(run.ranMs);
    this.#comeToRest('crashed');
  }

  /** Somebody does not want it to come back by itself. */
  #settle(actor: string): void {
    if (this.#selfStart.isPending) this.#say(`${actor} stops the server; it is not started again`);
    this.#selfStart.cancel();
    this.#comeToRest('stopped');
  }

  #comeToRest(rest: 'stopped' | 'crashed'): void {
    this.#rest = rest;
    this.#isRestarting = false;
    this.#isToStart = false;
    this.#emit();
  }

  #mustControl(): void {
    if (this.#options.settings.values.backend === 'none') throw new PanelError('server.elsewhere');
  }

  /** Nothing is started once the panel ends, nor before it has looked for what an earlier one has left. */
  #mustBeOpen(): void {
    if (this.#isClosing || !(this.#isOpen || this.#options.memory.isEmpty)) throw new PanelError('server.busy');
  }

  #say(text: string): void {
    this.#options.console.append('panel', text);
  }

  #emit(): void {
    const status = this.status();
    for (const listener of this.#listeners) listener(status);
  }

  #emitBundles(): void {
    for (const listener of this.#bundleListeners) listener();
  }
}

function exitOf({ code, signal, failure, isAsked }: RunEnd): ServerExit {
  return { code, signal, reason: isAsked ? 'asked' : failure === null ? 'crash' : 'spawn' };
}
