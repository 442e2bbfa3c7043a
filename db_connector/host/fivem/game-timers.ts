/**
 * Timers for everything that is bundled into the FXServer script; the build puts them in place of the global ones.
 *
 * FXServer's own count from the tick before, so that after a hitch they are over as soon as they are set, and their
 * `refresh` does nothing for a timer that has just run (citizenfx/fivem, data/shared/citizen/scripting/v8/timer.js).
 * These look at a real clock before they run.
 */

type Run = (...args: unknown[]) => void;

/** `globalThis.…` is the host's; the bare names are these. */
const host: Pick<typeof globalThis, 'setTimeout' | 'clearTimeout' | 'setImmediate' | 'clearImmediate'> = globalThis;

class GameTimer {
  readonly #run: () => void;
  readonly #delayMs: number;
  readonly #isRepeated: boolean;
  #dueAt = 0;
  #handle: ReturnType<typeof host.setTimeout> | undefined;

  constructor(run: () => void, delayMs: number, isRepeated: boolean) {
    this.#run = run;
    this.#delayMs = Math.max(1, delayMs || 1);
    this.#isRepeated = isRepeated;
    this.refresh();
  }

  refresh(): this {
    this.#dueAt = performance.now() + this.#delayMs;
    this.#arm();
    return this;
  }

  cancel(): void {
    host.clearTimeout(this.#handle);
    this.#handle = undefined;
  }

  /** A game server never ends for want of timers. */
  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  #arm(): void {
    this.cancel();
    this.#handle = host.setTimeout(() => this.#look(), this.#dueAt - performance.now());
  }

  #look(): void {
    if (performance.now() < this.#dueAt) {
      this.#arm();
      return;
    }
    this.#handle = undefined;
    if (this.#isRepeated) {
      this.refresh();
    }
    this.#run();
  }
}

export function setTimeout(run: Run, delayMs = 1, ...args: unknown[]): GameTimer {
  return new GameTimer(() => run(...args), delayMs, false);
}

export function setInterval(run: Run, delayMs = 1, ...args: unknown[]): GameTimer {
  return new GameTimer(() => run(...args), delayMs, true);
}

export function clearTimeout(timer: unknown): void {
  if (timer instanceof GameTimer) {
    timer.cancel();
  }
}

export function clearInterval(timer: unknown): void {
  clearTimeout(timer);
}

/** Node's own objects for immediates can be told not to keep the process; so callers expect these to. */
export function setImmediate(run: Run, ...args: unknown[]): ReturnType<typeof host.setImmediate> {
  return host.setImmediate(run, ...args);
}

export function clearImmediate(immediate: ReturnType<typeof host.setImmediate>): void {
  host.clearImmediate(immediate);
}
