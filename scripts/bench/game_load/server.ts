// A bundle that keeps the game's thread busy with one load and prints what that cost as one JSON line. Options from the
// environment: BENCH_LOAD, BENCH_SECONDS, BENCH_WARM_UP_SECONDS, BENCH_MYSQL_URL for the loads that need it.
import { Database, type Host } from '#connector/helper/helper.ts';
import { type LoadName, loadOf } from './loads.ts';
import { percentile, ThreadWatch, TICK_MS } from './thread-watch.ts';

/** More than this many unanswered calls would only wait in the connector's queue. */
const MAX_OPEN = 400;

const wait = (seconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

export default function start(host: Host): () => void {
  const { env } = process;
  const load = loadOf(env.BENCH_LOAD as LoadName, host, env.BENCH_MYSQL_URL ?? '');
  const watch = new ThreadWatch(load.hasProbe);
  const costs: number[] = [];
  let [calls, errors, open, tickCount, isCounting] = [0, 0, 0, 0, false];
  let timer: NodeJS.Timeout | undefined;

  const begin = (): void => {
    // Calls may end while others begin.
    const begun = load.begin(tickCount, (isRight, cpuMs) => {
      open -= 1;
      if (!isCounting) return;
      calls += 1;
      if (!isRight) errors += 1;
      if (cpuMs !== undefined) costs.push(cpuMs);
    });
    open += begun;
    tickCount += 1;
  };

  const tick = (dueAt: number): void => {
    watch.tick(dueAt);
    if (open < MAX_OPEN) begin();
    const nextAt = Math.max(dueAt + TICK_MS, performance.now());
    timer = setTimeout(() => tick(nextAt), Math.max(0, nextAt - performance.now()));
  };

  const measure = async (): Promise<void> => {
    await new Database(host).async.Ready();
    tick(performance.now());
    await wait(Number(env.BENCH_WARM_UP_SECONDS ?? '8'));
    watch.begin();
    isCounting = true;
    await wait(Number(env.BENCH_SECONDS ?? '60'));
    isCounting = false;
    const thread = watch.end();
    clearTimeout(timer);
    const cost = costs.length === 0 ? null : { medianMs: percentile(costs, 0.5), maxMs: percentile(costs, 1) };
    host.log(`BENCH ${JSON.stringify({ calls, errors, cost, thread })}`);
    load.close?.();
  };
  measure().catch((error: Error) => host.log(`BENCH failed: ${error.stack}`));
  return () => clearTimeout(timer);
}
