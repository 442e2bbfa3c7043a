import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const TICK_MS = 5;
const LOOK_MS = 50;
const NS_PER_MS = 1e6;
/** A thread that wants a processor for more of the time is busy with something else. */
const ASKED_SHARE = 0.9;

/** Milliseconds of a call: as this thread saw them, and those of the process. */
interface Times {
  readonly seenMs: number;
  readonly ownMs: number;
}

/** Milliseconds of one thread: on a processor, and in the queue for one. */
interface ThreadTimes {
  readonly ranMs: number;
  readonly waitedMs: number;
}

/** By thread id; empty on a system without `/proc`. */
type Threads = ReadonlyMap<string, ThreadTimes>;

const NO_TIME: ThreadTimes = { ranMs: 0, waitedMs: 0 };

/**
 * Times calls to another process without what the machine itself adds to them, so that a bound holds for the process alone. The
 * machine adds two delays: threads of the process wait for a processor that other processes have, and this thread is late
 * for the answer. Time in which the process runs, sleeps or waits for itself stays.
 */
export class OwnTime {
  readonly #pid: string;
  readonly #timer: NodeJS.Timeout;
  #tickedMs = performance.now();
  /** Delay of the last tick. */
  #lateMs = 0;

  constructor(pid: number) {
    this.#pid = String(pid);
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async of(call: () => Promise<unknown>): Promise<Times> {
    const before = threadTimes(this.#pid);
    const startedMs = performance.now();
    await call();
    return this.#judge(startedMs, differences(before, threadTimes(this.#pid)));
  }

  /** As `of`, for a call that ends the process: it is judged by its threads as they were last seen. */
  async ofEnd(call: () => Promise<unknown>): Promise<Times> {
    const before = threadTimes(this.#pid);
    const seen = new Map(before);
    const look = setInterval(() => {
      for (const [id, times] of threadTimes(this.#pid)) seen.set(id, times);
    }, LOOK_MS);
    const startedMs = performance.now();
    try {
      await call();
      return this.#judge(startedMs, differences(before, seen));
    } finally {
      clearInterval(look);
    }
  }

  #judge(startedMs: number, threads: Threads): Times {
    const seenMs = performance.now() - startedMs;
    const lateMs = Math.min(seenMs, this.#lateNow());
    const { main, others } = split(threads, this.#pid);
    const ranMs = others.reduce((sum, thread) => sum + thread.ranMs, main.ranMs);
    // The call goes through the main thread and one that sleeps until it is asked.
    const asked = others.filter((thread) => thread.ranMs + thread.waitedMs < ASKED_SHARE * seenMs);
    const queuedMs = queuedFor(main, ranMs) + Math.max(0, ...asked.map((thread) => queuedFor(thread, ranMs)));
    // Time that the main thread runs is never the machine's.
    return { seenMs, ownMs: Math.max(seenMs - queuedMs, main.ranMs) - lateMs };
  }

  #tick(): void {
    this.#lateMs = this.#sinceTickMs();
    this.#tickedMs = performance.now();
  }

  /** An answer may come in the same turn as a late tick, before or after it. */
  #lateNow(): number {
    const isNew = performance.now() - this.#tickedMs < TICK_MS;
    return Math.max(this.#sinceTickMs(), isNew ? this.#lateMs : 0);
  }

  #sinceTickMs(): number {
    return Math.max(0, performance.now() - this.#tickedMs - 2 * TICK_MS);
  }
}

/** The wait that the process cannot have caused: its other threads had the processors for the rest. */
function queuedFor({ ranMs, waitedMs }: ThreadTimes, ranOfAllMs: number): number {
  return Math.max(0, waitedMs - (ranOfAllMs - ranMs) / availableParallelism());
}

function split(threads: Threads, pid: string): { main: ThreadTimes; others: ThreadTimes[] } {
  const others = [...threads].filter(([id]) => id !== pid).map(([, thread]) => thread);
  return { main: threads.get(pid) ?? NO_TIME, others };
}

function differences(before: Threads, after: Threads): Threads {
  const passed = new Map<string, ThreadTimes>();
  for (const [id, { ranMs, waitedMs }] of after) {
    const old = before.get(id) ?? NO_TIME;
    passed.set(id, { ranMs: ranMs - old.ranMs, waitedMs: waitedMs - old.waitedMs });
  }
  return passed;
}

function threadTimes(pid: string): Threads {
  const times = new Map<string, ThreadTimes>();
  for (const id of threadsOf(pid)) {
    const text = schedstatOf(pid, id);
    if (text === null) continue;
    const [ran = 0, waited = 0] = text.split(' ').map(Number);
    times.set(id, { ranMs: ran / NS_PER_MS, waitedMs: waited / NS_PER_MS });
  }
  return times;
}

function threadsOf(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** Null if the thread has ended. */
function schedstatOf(pid: string, id: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8');
  } catch {
    return null;
  }
}
