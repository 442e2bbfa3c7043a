import fc from 'fast-check';

/**
 * `npm test` judges a change and not luck: everybody's run draws the same programs, schedules and moments. `TEST_SEED=n`
 * draws others, and `npm run soak` new ones each time.
 */
export const TEST_SEED = Number(process.env.TEST_SEED ?? 20_261_122);

/** The seed that a variable names, to replay what failed under it; else the run's own. */
export function seedOf(
  variable: 'CLUSTER_SEED' | 'SIMULATION_SEED' | 'STREAM_FUZZ_SEED' | 'WRITE_BEHIND_SEED',
): number {
  return Number(process.env[variable] ?? TEST_SEED);
}

fc.configureGlobal({ seed: TEST_SEED });
