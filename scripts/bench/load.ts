import { createHistogram } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { HttpCaller } from './http-caller.ts';
import type { LoadOptions } from './load-options.ts';
import { frameWriter, requestWriter } from './request-writers.ts';
import { StreamCaller } from './stream-caller.ts';
import { freeTurns, pacedTurns, type Turn } from './turns.ts';

// The load generator, a process of its own: `node scripts/bench/load.ts '{"port":…,…}'` prints one JSON line with what it saw.
// It writes HTTP by hand over keep-alive connections, one request at a time on each, so that it costs less than what it
// measures. Each request is signed when it is sent; the bare server gets the very same signed requests.

export interface LoadResult {
  readonly perSecond: number;
  readonly requests: number;
  /** With those of the warm-up. */
  readonly answered: number;
  /** By HTTP status. */
  readonly statuses: Record<string, number>;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Bytes of the last answer, so that the bare server answers with the same size. */
  readonly answerBytes: number;
}

/** Streams of one generator; each has its share of the calls under way. */
const STREAMS = 4;

function callersOf(
  options: LoadOptions,
  turn: Turn,
  onAnswer: (status: number, ms: number, bytes: number) => void,
): (HttpCaller | StreamCaller)[] {
  const { port, connections, transport } = options;
  if (transport === 'stream') {
    const next = frameWriter(options);
    const share = connections / STREAMS;
    return Array.from({ length: STREAMS }, () => new StreamCaller(port, share, next, turn, onAnswer));
  }
  const next = requestWriter(options);
  return Array.from({ length: connections }, () => new HttpCaller(port, next, turn, onAnswer));
}

async function generate(options: LoadOptions): Promise<LoadResult> {
  const latencyUs = createHistogram();
  const statuses: Record<string, number> = {};
  let [requests, answered, answerBytes, isCounting] = [0, 0, 0, false];
  const onAnswer = (status: number, ms: number, bytes: number): void => {
    answerBytes = bytes;
    answered += 1;
    if (!isCounting) return;
    requests += 1;
    statuses[status] = (statuses[status] ?? 0) + 1;
    latencyUs.record(Math.max(1, Math.round(ms * 1000)));
  };
  const { ratePerSecond, maxRequests } = options;
  const turn = ratePerSecond === undefined ? freeTurns(maxRequests) : pacedTurns(ratePerSecond);
  const callers = callersOf(options, turn, onAnswer);
  const allEnded = Promise.all(callers.map((caller) => caller.ended.promise));
  await wait(options.warmUpSeconds * 1000);
  isCounting = true;
  const startedAt = performance.now();
  await Promise.race([wait(options.seconds * 1000), allEnded]);
  isCounting = false;
  const seconds = (performance.now() - startedAt) / 1000;
  for (const caller of callers) caller.stop();
  await allEnded;
  const ms = (percentile: number) => latencyUs.percentile(percentile) / 1000;
  return {
    perSecond: requests / seconds,
    requests,
    answered,
    statuses,
    p50Ms: ms(50),
    p99Ms: ms(99),
    maxMs: latencyUs.max / 1000,
    answerBytes,
  };
}

if (import.meta.main) {
  console.log(JSON.stringify(await generate(JSON.parse(process.argv[2] as string) as LoadOptions)));
  // With `maxRequests` the wait for the longest time may be still under way.
  process.exit(0);
}
