import type { PlanStep } from '#panel/shapes/server.ts';

export type LadderAction = 'ask' | 'terminate' | 'kill';

export interface LadderStep {
  readonly action: LadderAction;
  /** After the step before it; the first one is taken at once. */
  readonly afterMs: number;
}

export interface LadderOptions {
  readonly steps: readonly LadderStep[];
  readonly act: (action: LadderAction) => void;
  readonly onStep: () => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Ask, wait, terminate, wait, kill: what is done to end a server, and when. Each step can be seen before it is taken. */
export class StopLadder {
  readonly steps: readonly PlanStep[];
  readonly #options: LadderOptions;
  #next = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LadderOptions) {
    this.#options = options;
    let at = options.now();
    this.steps = options.steps.map(({ action, afterMs }, index) => {
      at += index === 0 ? 0 : afterMs;
      return { action, at: new Date(at).toISOString() };
    });
  }

  /** Index of the step that comes next. */
  get next(): number {
    return this.#next;
  }

  get isKilling(): boolean {
    return this.steps[this.#next - 1]?.action === 'kill';
  }

  /** Takes the first step at once. */
  climb(): void {
    const step = this.#options.steps[this.#next];
    if (step === undefined) return;
    this.#next += 1;
    const following = this.#options.steps[this.#next];
    if (following !== undefined) this.#timer = setTimeout(() => this.climb(), following.afterMs);
    this.#options.act(step.action);
    this.#options.onStep();
  }

  leave(): void {
    clearTimeout(this.#timer);
  }
}
