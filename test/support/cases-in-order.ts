import { afterAll, afterEach, beforeAll, beforeEach, it } from 'vitest';

type Step = () => unknown;

/** Room for every case before the one that is run again. */
const REPLAY_TIMEOUT_MS = 600_000;

/** Cases and hooks of a suite, in the order in which they were defined. */
export class CaseOrder {
  readonly beforeAll: Step[] = [];
  readonly afterAll: Step[] = [];
  readonly beforeEach: Step[] = [];
  readonly afterEach: Step[] = [];
  /** By name. */
  readonly cases = new Map<string, Step>();

  /** Starts the suite again and runs each case before `name`: that case finds what it found at its first attempt. */
  async replay(name: string): Promise<void> {
    await runAll(this.afterAll.toReversed());
    await runAll(this.beforeAll);
    for (const [each, run] of this.cases) {
      if (each === name) return;
      try {
        await runAll([...this.beforeEach, run]);
      } finally {
        await runAll(this.afterEach.toReversed());
      }
    }
  }
}

async function runAll(steps: readonly Step[]): Promise<void> {
  for (const step of steps) await step();
}

/**
 * Hooks and cases in place of those of Vitest, for a suite whose cases build on each other. A second attempt (`retry`) alone would
 * start from what the first one left half done, and fail for that reason. `beforeAll` must set every variable of the suite.
 */
export function casesInOrder() {
  const order = new CaseOrder();
  beforeEach(async ({ task }) => {
    if ((task.result?.retryCount ?? 0) > 0) await order.replay(task.name);
  }, REPLAY_TIMEOUT_MS);
  const noting = (steps: Step[], register: (run: () => Promise<void>) => void) => (step: Step) => {
    steps.push(step);
    register(async () => void (await step()));
  };
  return {
    beforeAll: noting(order.beforeAll, beforeAll),
    afterAll: noting(order.afterAll, afterAll),
    beforeEach: noting(order.beforeEach, beforeEach),
    afterEach: noting(order.afterEach, afterEach),
    it(name: string, run: Step): void {
      if (order.cases.has(name)) throw new Error(`two cases are called ${name}`);
      order.cases.set(name, run);
      it(name, async () => void (await run()));
    },
  };
}
