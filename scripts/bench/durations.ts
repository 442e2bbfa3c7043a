/** Time of a load; BENCH_SECONDS=2 makes a trial of the whole bench. */
export const SECONDS = Number(process.env.BENCH_SECONDS ?? '4');
/** Time of each of the many loads on engines. */
export const ENGINE_SECONDS = Number(process.env.BENCH_ENGINE_SECONDS ?? String(Math.min(2, SECONDS)));
/** Before a load is counted. */
export const WARM_UP_SECONDS = Math.min(1, SECONDS / 2);
