import { orLate } from '#sidecar/deadline.ts';
import type { PlanStep } from '../shapes/server.ts';
import type { GameProcess, ProcessExit } from './process/spawn.ts';
import { type LadderAction, StopLadder } from './process/stop-ladder.ts';
import type { RunRules } from './rules.ts';

/** How long a group that was killed may take to be gone: a process that hangs in the kernel must not hang the panel. */
const KILLED_MS = 5000;
/** How long output that somebody else holds open is waited for. */
const DRAIN_MS = 1000;
const LOOK_MS = { first: 10, longest: 200 };
/** What was typed to stop it counts for so long at least; a crash days after a stop line that did nothing is a crash. */
const ASKED_MS = 120_000;

export interface RunEnd extends ProcessExit {
  /** After a stop line, whoever has sent it, or because the panel has ended it. */
  readonly isAsked: boolean;
  /** Members of the group that could not be ended. */
  readonly isLeftOver: boolean;
}

/** What is to be ended: a process that was started here, or the group that an earlier sidecar has left (`LeftGroup`). */
export type RunProcess = Pick<GameProcess, 'exited' | 'drained' | 'signal' | 'isGroupAlive' | 'abandonOutput'>;

export interface RunOptions {
  readonly process: RunProcess;
  /** As the settings are now: an owner may shorten the waits while it stops. */
  readonly rules: () => RunRules;
  readonly now: () => number;
  /** The stop line goes to the console as any other line. */
  readonly ask: (stopLine: string) => void;
  readonly onChange: () => void;
}

/** One run of a server, from its start until nothing of its group is left. */
export class ServerRun {
  readonly ended: Promise<RunEnd>;
  readonly #options: RunOptions;
  readonly #process: RunProcess;
  #ladder: StopLadder | null = null;
  #isAsked = false;
  /** Nothing of it is left: its number may be another's from now on, and is signalled no more. */
  #isGone = false;
  #stopLineAt = Number.NEGATIVE_INFINITY;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#process = options.process;
    this.ended = this.#run();
  }

  get isStopping(): boolean {
    return this.#ladder !== null;
  }

  get steps(): readonly PlanStep[] {
    return this.#ladder?.steps ?? [];
  }

  get next(): number {
    return this.#ladder?.next ?? 0;
  }

  /** Begins to stop it; one that is stopping already goes on as it does. */
  stop(): void {
    this.#isAsked = true;
    if (this.#ladder !== null || this.#isGone) return;
    const { isImmediate, stopLine } = this.#options.rules();
    if (isImmediate) this.#climb(['kill']);
    else this.#climb(stopLine === '' ? ['terminate', 'kill'] : ['ask', 'terminate', 'kill']);
  }

  /** Overtakes whatever goes on. */
  forceStop(): void {
    this.#isAsked = true;
    if (this.#ladder?.isKilling !== true && !this.#isGone) this.#climb(['kill']);
  }

  /** Somebody has typed the line that stops it: its end is no crash. */
  noteStopLine(): void {
    this.#stopLineAt = performance.now();
  }

  async #run(): Promise<RunEnd> {
    const exit = await this.#process.exited;
    if (performance.now() - this.#stopLineAt < Math.max(ASKED_MS, this.#options.rules().stopWaitMs))
      this.#isAsked = true;
    const isAsked = this.#isAsked;
    const isLeftOver = exit.failure === null && !(await this.#sweep());
    this.#isGone = true;
    this.#ladder?.leave();
    await orLate(this.#process.drained, DRAIN_MS, undefined);
    this.#process.abandonOutput();
    return { ...exit, isAsked, isLeftOver };
  }

  /** What the process has left behind goes the same way. Resolves with whether all of it has gone. */
  async #sweep(): Promise<boolean> {
    if (!this.#process.isGroupAlive()) return true;
    if (this.#ladder === null || this.#ladder.steps[this.#ladder.next - 1]?.action === 'ask') {
      this.#climb(this.#options.rules().isImmediate ? ['kill'] : ['terminate', 'kill']);
    }
    let killedAt = Number.POSITIVE_INFINITY;
    for (let waitMs = LOOK_MS.first; this.#process.isGroupAlive(); waitMs = Math.min(2 * waitMs, LOOK_MS.longest)) {
      if (performance.now() - killedAt > KILLED_MS) return false;
      if (this.#ladder?.isKilling && killedAt === Number.POSITIVE_INFINITY) killedAt = performance.now();
      await after(waitMs);
    }
    return true;
  }

  #climb(actions: readonly LadderAction[]): void {
    this.#ladder?.leave();
    const { stopWaitMs, killWaitMs } = this.#options.rules();
    const steps = actions.map((action) => ({ action, afterMs: action === 'terminate' ? stopWaitMs : killWaitMs }));
    const { now, onChange } = this.#options;
    this.#ladder = new StopLadder({ steps, now, act: (action) => this.#act(action), onStep: onChange });
    this.#ladder.climb();
  }

  #act(action: LadderAction): void {
    if (action === 'ask') this.#options.ask(this.#options.rules().stopLine);
    else this.#process.signal(action);
  }
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
