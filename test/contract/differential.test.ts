import fc from 'fast-check';
import { expect, inject, it } from 'vitest';
import { MODEL_MAX_INSERT_ROWS } from '../support/model/model-batch.ts';
import { programs } from '../support/model/program-arbitrary.ts';
import { MODEL_NOW_MS } from '../support/model/random-schema.ts';
import { type Caller, runProgram } from '../support/model/run-program.ts';
import { unique } from '../support/sidecar.ts';
import { PATIENT, useSidecar } from './data-world.ts';

const STEPS = 100;
/** Programs that run at the same time, each lane with a seed of its own. */
const LANES = 4;
const MS_PER_PROGRAM = 5000;
const SHRINKING_MS = 300_000;
/** Programs that may end early because the contract leaves their next answer open. */
const UNDECIDED_PERCENT = 15;

const { programs: total, seed, path } = inject('differential');

const world = useSidecar({
  now: () => MODEL_NOW_MS,
  config: {
    ...PATIENT,
    schema: { removed: 'drop' },
    limits: { maxInsertRows: MODEL_MAX_INSERT_ROWS, perKeyPerSecond: 1_000_000, perAddressPerSecond: 1_000_000 },
  },
});

const call: Caller = (operation, payload) => world.client.call(operation, payload);

/** Reports the first failure alone, shrunk, with what replays it. */
class Lanes {
  readonly ends = { done: 0, undecided: 0 };
  #failure: string | null = null;

  async run(laneSeed: number): Promise<void> {
    const property = fc.asyncProperty(programs({ steps: STEPS }), async (program) => {
      if (this.#failure !== null) return;
      this.ends[await runProgram(program, unique('d'), call, world.sidecar.capabilities)] += 1;
    });
    const details = await fc.check(property, {
      ...{ numRuns: Math.ceil(total / LANES), seed: laneSeed },
      ...(path === '' ? {} : { path }),
    });
    if (!details.failed) return;
    const replay = `DIFFERENTIAL_SEED=${details.seed}:${details.counterexamplePath}`;
    this.#failure ??= `${replay}\n${details.errorInstance instanceof Error ? details.errorInstance.message : ''}`;
  }

  get failure(): string | null {
    return this.#failure;
  }
}

it(
  'random programs are answered as a plain model of the contract answers them',
  async () => {
    const lanes = new Lanes();
    const seeds = Array.from({ length: path === '' ? LANES : 1 }, (_, lane) => seed + lane);
    await Promise.all(seeds.map((laneSeed) => lanes.run(laneSeed)));
    if (lanes.failure !== null) throw new Error(lanes.failure);
    if (path === '') expect(lanes.ends.undecided).toBeLessThan(Math.max(3, (total * UNDECIDED_PERCENT) / 100));
  },
  total * MS_PER_PROGRAM + SHRINKING_MS,
);
