// A bundle that keeps the game's thread busy with one load and prints what that cost as one JSON line. Options from the
// environment: BENCH_LOAD, BENCH_SECONDS, BENCH_WARM_UP_SECONDS, BENCH_MYSQL_URL for the loads that need it, BENCH_PROFILE_FILE for a
// processor profile after the warming up.
import { Database, type Host } from '#connector/helper/helper.ts';
import { type LoadName, loadOf } from './loads.ts';
import { startProfile } from './profile.ts';
import { percentile, ThreadWatch, TICK_MS } from './thread-watch.ts';

/** More than this many unanswered calls would only wait in the connector's queue. */
const MAX_OPEN = 400;

/** A machine that does other work, too, may take so many times as long for the ticks of a period. */
const MAX_STRETCH = 10;

export default function start(host: Host): () => void {
  const { env } = process;
  const load = loadOf(env.BENCH_LOAD as LoadName, host, env.BENCH_MYSQL_URL ?? '');
  const watch = new ThreadWatch(load.hasProbe);
  const costs: number[] = [];
  let [calls, errors, open, tickCount, isCounting] = [0, 0, 0, 0, false];
  let timer: NodeJS.Timeout | undefined;
  let onTick = (_now: number): void => {};

  /** Ends with the last tick of so many seconds: a busy machine warms up, and is measured, by as many calls as a quiet one. */
  const period = (seconds: number): Promise<void> => {
    const [startedAt, lastTick, ms] = [performance.now(), tickCount + (seconds * 1000) / TICK_MS, seconds * 1000];
    return new Promise((resolve) => {
      onTick = (now) => {
        const tookMs = now - startedAt;
        if ((tookMs >= ms && tickCount >= lastTick) || tookMs >= ms * MAX_STRETCH) resolve();
      };
    });
  };

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
    load.collect?.();
    if (open < MAX_OPEN) begin();
    const now = performance.now();
    const nextAt = Math.max(dueAt + TICK_MS, now);
    timer = setTimeout(() => tick(nextAt), nextAt - now);
    onTick(now);
  };

  const measure = async (): Promise<void> => {
    await new Database(host).async.Ready();
    tick(performance.now());
    await period(Number(env.BENCH_WARM_UP_SECONDS ?? '8'));
    const endProfile = env.BENCH_PROFILE_FILE ? await startProfile(env.BENCH_PROFILE_FILE) : null;
    watch.begin();
    isCounting = true;
    await period(Number(env.BENCH_SECONDS ?? '60'));
    isCounting = false;
    const thread = watch.end();
    clearTimeout(timer);
    await endProfile?.();
    const cost = costs.length === 0 ? null : { medianMs: percentile(costs, 0.5), maxMs: percentile(costs, 1) };
    host.log(`BENCH ${JSON.stringify({ calls, errors, cost, thread })}`);
    load.close?.();
  };
  measure().catch((error: Error) => host.log(`BENCH failed: ${error.stack}`));
  return () => clearTimeout(timer);
}
