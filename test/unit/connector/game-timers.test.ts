import { afterEach, describe, expect, it, vi } from 'vitest';
import { clearTimeout, setInterval, setTimeout } from '#connector/host/fivem/game-timers.ts';

/** FXServer's timers after a hitch: whatever is set is over at the next tick (see `test/support/fx/resource.ts`). */
class Ticks {
  now = 0;
  readonly #due = new Map<number, () => void>();
  #last = 0;

  constructor() {
    vi.stubGlobal('setTimeout', (run: () => void) => {
      this.#last += 1;
      this.#due.set(this.#last, run);
      return this.#last;
    });
    vi.stubGlobal('clearTimeout', (id: number) => this.#due.delete(id));
    vi.spyOn(performance, 'now').mockImplementation(() => this.now);
  }

  get waiting(): number {
    return this.#due.size;
  }

  to(now: number): void {
    this.now = now;
    const due = [...this.#due.values()];
    this.#due.clear();
    for (const run of due) run();
  }
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe('timers on the game tick', () => {
  it('are never over before their time, though the host says so', () => {
    const ticks = new Ticks();
    const run = vi.fn();
    setTimeout(run, 300, 'a');
    for (const now of [10, 20, 299]) ticks.to(now);
    expect(run).not.toHaveBeenCalled();
    ticks.to(300);
    expect(run).toHaveBeenCalledExactlyOnceWith('a');
    expect(ticks.waiting).toBe(0);
  });

  it('can be refreshed from within, as undici does', () => {
    const ticks = new Ticks();
    let runs = 0;
    const timer = setTimeout(() => {
      runs += 1;
      if (runs < 3) timer.refresh();
    }, 100);
    for (const now of [100, 150, 200, 300, 400]) ticks.to(now);
    expect(runs).toBe(3);
  });

  it('repeat once after a hitch, however long it was, and end when they are told', () => {
    const ticks = new Ticks();
    const run = vi.fn();
    const timer = setInterval(run, 20);
    ticks.to(5000);
    expect(run).toHaveBeenCalledTimes(1);
    ticks.to(5019);
    expect(run).toHaveBeenCalledTimes(1);
    ticks.to(5020);
    expect(run).toHaveBeenCalledTimes(2);
    clearTimeout(timer);
    ticks.to(9000);
    expect(run).toHaveBeenCalledTimes(2);
    clearTimeout(undefined);
  });
});
