import type { ServerExit, ServerStatus } from '../shapes/server.ts';
import { ActiveRun, type ActiveRunOptions } from './active-run.ts';
import type { CrashRecords } from './crashes.ts';
import { describePlan } from './describe-run.ts';
import { LaunchError } from './process/backends/backend.ts';
import { exitOf, reportEnd } from './report-end.ts';
import { missingSetting } from './rules.ts';
import { SelfStart } from './self-start.ts';
import type { RunEnd } from './server-run.ts';
import { serverStatus } from './status.ts';

export interface RunCycleOptions extends Omit<ActiveRunOptions, 'onRestartDue' | 'say'> {
  readonly crashes: CrashRecords;
}

/** One run of the server after another: begins one, ends it, and decides what comes then. Who may ask for it is not its business. */
export class RunCycle {
  readonly #options: RunCycleOptions;
  readonly #selfStart: SelfStart;
  #run: ActiveRun | null = null;
  /** While nothing runs. */
  #rest: 'stopped' | 'crashed' = 'stopped';
  #exit: ServerExit | null = null;
  /** Why the last start failed. */
  #failure: string | null = null;
  /** Once it has stopped. */
  #isToStart = false;
  /** From a restart until it runs. */
  #isRestarting = false;
  #isOpen = false;
  #isClosing = false;

  constructor(options: RunCycleOptions) {
    this.#options = options;
    const { settings, now, onChange } = options;
    const start = (why: string) => this.#launch(why);
    this.#selfStart = new SelfStart({ start, say: (text) => this.#say(text), settings, now });
    settings.onChange((values, before) => {
      // Owners think of it while a server hangs.
      const isWanted = values.restartHungServer && !before.restartHungServer;
      if (isWanted && this.#run?.condition.hungSince != null) this.#restartHung();
      // After the start that waits has heard of it.
      onChange();
    });
  }

  get run(): ActiveRun | null {
    return this.#run;
  }

  get status(): ServerStatus {
    const [run, rest, exit, failure] = [this.#run, this.#rest, this.#exit, this.#failure];
    const place = { run, rest, exit, failure, isToStart: this.#isToStart };
    return serverStatus({ ...place, selfStart: this.#selfStart }, this.#options.settings.values);
  }

  get isRestarting(): boolean {
    return this.#isRestarting;
  }

  /** Nothing is started once the panel ends, nor before it has looked for what an earlier one has left. */
  get mayStart(): boolean {
    return !this.#isClosing && (this.#isOpen || this.#options.memory.isEmpty);
  }

  /** Ends what an earlier sidecar has left running, and starts the server where it starts with the panel. */
  async open(): Promise<void> {
    const left = await this.#options.memory.findLeftGroup();
    this.#isOpen = true;
    const { values } = this.#options.settings;
    const starts = values.autoStartServer && values.backend !== 'none' && missingSetting(values) === null;
    if (this.#run !== null) return;
    if (left === null) {
      this.#options.memory.forget();
      if (starts) this.#launch('The server starts with the panel');
      return;
    }
    this.#isToStart = starts;
    this.#say(`Ending a server that an earlier run of the panel left running (process ${left})`);
    this.#follow(ActiveRun.ofLeftGroup(left, this.#runOptions()));
  }

  /** Somebody starts it; only where nothing runs. */
  start(actor: string): void {
    this.#selfStart.clear();
    this.#launch(`${actor} starts the server`);
  }

  stop(actor: string): void {
    if (this.#run === null) this.#settle(actor);
    else this.#stopRun(this.#run, actor, false);
  }

  restart(actor: string): void {
    this.#selfStart.clear();
    this.#isRestarting = true;
    if (this.#run === null) this.#launch(`${actor} restarts the server`);
    else this.#stopRun(this.#run, actor, true);
  }

  forceStop(actor: string): void {
    this.#isToStart = false;
    this.#isRestarting = false;
    if (this.#run !== null) {
      this.#say(`${actor} stops the server by force`);
      this.#run.forceStop();
      this.#options.onChange();
    } else if (this.#rest === 'crashed') this.#settle(actor);
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

  #launch(why: string): void {
    this.#isOpen = true;
    this.#selfStart.cancel();
    this.#isToStart = false;
    this.#failure = null;
    this.#options.console.beginRun();
    this.#say(why);
    try {
      this.#follow(ActiveRun.start(this.#runOptions()));
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : String(error);
      this.#say(`The server could not start: ${this.#failure}`);
      this.#exit = { code: null, signal: null, reason: 'spawn' };
      this.#selfStart.gaveUp = error instanceof LaunchError ? 'launch' : null;
      this.#comeToRest('crashed');
    }
  }

  #follow(run: ActiveRun): void {
    this.#run = run;
    void run.ended.then((end) => this.#onEnded(run, end));
    this.#options.onChange();
  }

  #runOptions(): ActiveRunOptions {
    return {
      ...this.#options,
      say: (text) => this.#say(text),
      onRestartDue: () => this.#restartHung(),
      onChange: () => {
        if (this.#run?.state === 'running') this.#isRestarting = false;
        this.#options.onChange();
      },
    };
  }

  #restartHung(): void {
    if (this.#run === null || this.#run.isStopping || !this.#selfStart.mayRestartHung()) return;
    this.#stopRun(this.#run, 'The panel', true);
  }

  #stopRun(run: ActiveRun, actor: string, isToStart: boolean): void {
    const wasToStart = this.#isToStart;
    const wasStopping = run.isStopping;
    this.#isToStart = isToStart;
    if (!isToStart) this.#isRestarting = false;
    run.stop();
    if (!wasStopping) {
      const plan = describePlan(run.plan?.steps ?? [], this.#options.now());
      this.#say(`${actor} ${isToStart ? 'restarts' : 'stops'} the server${plan}`);
    } else if (wasToStart && !isToStart) this.#sayNotAgain(actor);
    this.#options.onChange();
  }

  #onEnded(run: ActiveRun, end: RunEnd): void {
    // The panel has waited long enough for it, and is gone.
    if (this.#run !== run) return;
    this.#run = null;
    this.#options.memory.forget();
    if (!run.isLeft) this.#exit = exitOf(end);
    this.#failure = end.failure;
    reportEnd(run, end, { say: (text) => this.#say(text), crashes: this.#options.crashes });
    this.#options.onBundles();
    if (this.#isToStart && !this.#isClosing) this.#launch('The server starts again');
    else if (run.isUnwanted || end.isAsked) this.#comeToRest('stopped');
    else {
      if (!this.#isClosing) this.#selfStart.afterCrash(run.ranMs);
      this.#comeToRest('crashed');
    }
  }

  /** Somebody does not want it to come back by itself. */
  #settle(actor: string): void {
    if (this.#selfStart.isPending) this.#sayNotAgain(actor);
    this.#selfStart.cancel();
    this.#comeToRest('stopped');
  }

  #comeToRest(rest: 'stopped' | 'crashed'): void {
    this.#rest = rest;
    this.#isRestarting = false;
    this.#isToStart = false;
    this.#options.onChange();
  }

  #sayNotAgain(actor: string): void {
    this.#say(`${actor} stops the server; it does not start again`);
  }

  #say(text: string): void {
    this.#options.console.append('panel', text);
  }
}
