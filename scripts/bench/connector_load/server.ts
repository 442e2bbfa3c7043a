// A bundle that keeps the connector busy through the helper and prints what that cost the game's thread as one JSON line.
// Options from the environment: BENCH_SECONDS, BENCH_CALLS_PER_SECOND, BENCH_ROWS.
import { createHistogram } from 'node:perf_hooks';
import { Database, type DbResult, type Host, Q } from '#connector/helper/helper.ts';

const TICK_MS = 20;
const WARM_UP_MS = 3000;
/** More than this many unanswered calls would only wait in the connector's queue. */
const MAX_OPEN = 400;

interface Counts {
  calls: number;
  errors: number;
}

function threadCpuMicros(): number {
  // Time of this thread alone from Node.js 24 on; before, of the whole process.
  const usage = typeof process.threadCpuUsage === 'function' ? process.threadCpuUsage() : process.cpuUsage();
  return usage.user + usage.system;
}

export default function start(host: Host): () => void {
  const db = new Database(host);
  const seconds = Number(process.env.BENCH_SECONDS ?? '60');
  const perTick = (Number(process.env.BENCH_CALLS_PER_SECOND ?? '2100') * TICK_MS) / 1000;
  const rows = Number(process.env.BENCH_ROWS ?? '100000');
  const counts: Counts = { calls: 0, errors: 0 };
  const lateness = createHistogram();
  let [open, sent, owed, isCounting] = [0, 0, 0, false];
  let timer: NodeJS.Timeout | undefined;

  const onResult = (result: DbResult): void => {
    open -= 1;
    if (!isCounting) return;
    counts.calls += 1;
    if (result.State !== 'ok') counts.errors += 1;
  };

  const callOnce = (): void => {
    const id = 1 + Math.floor(Math.random() * rows);
    open += 1;
    sent += 1;
    if (sent % 2 === 0) db.Find('bench', 'things', { filter: Q.Eq('id', id) }, onResult);
    else db.Update('bench', 'things', { filter: Q.Eq('id', id), set: { note: `seen ${sent}` } }, onResult);
  };

  /** The game's tick: due every 20 ms; how much later it comes is what the thread was kept for. */
  const tick = (dueAt: number): void => {
    const now = performance.now();
    if (isCounting) lateness.record(Math.max(1, Math.round((now - dueAt) * 1000)));
    owed = Math.min(owed + perTick, MAX_OPEN);
    for (; owed >= 1 && open < MAX_OPEN; owed -= 1) callOnce();
    const nextAt = Math.max(dueAt + TICK_MS, now);
    timer = setTimeout(() => tick(nextAt), Math.max(0, nextAt - performance.now()));
  };

  const measure = async (): Promise<void> => {
    await db.async.Ready();
    tick(performance.now());
    await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS));
    const [cpuBefore, startedAt] = [threadCpuMicros(), performance.now()];
    isCounting = true;
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    isCounting = false;
    const cpuMicros = threadCpuMicros() - cpuBefore;
    clearTimeout(timer);
    host.log(
      `BENCH ${JSON.stringify({
        callsPerSecond: counts.calls / ((performance.now() - startedAt) / 1000),
        errors: counts.errors,
        tickP99Ms: lateness.percentile(99) / 1000,
        tickMaxMs: lateness.max / 1000,
        cpuMsPerCall: cpuMicros / 1000 / counts.calls,
      })}`,
    );
  };
  measure().catch((error: Error) => host.log(`BENCH failed: ${error.message}`));
  return () => clearTimeout(timer);
}
