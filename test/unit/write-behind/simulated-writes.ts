import type { AppliedWrite } from './simulated-database.ts';

export type Outcome = 'flying' | 'acknowledged' | 'refused' | 'unknown';

/** A write that a client sent, and its answers so far. */
export interface SentWrite {
  readonly n: number;
  readonly box: string;
  readonly namespace: string;
  readonly key: string | null;
  outcome: Outcome;
  ack: string | null;
  /** Sent again with its key. */
  isRepeated: boolean;
  isDiscarded: boolean;
}

/** State of the database when everything has come to rest. */
export interface Evidence {
  readonly applied: readonly AppliedWrite[];
  /** Numbers of the writes that are dead letters. */
  readonly letters: readonly number[];
}

/** Broken promises of contract section 7 in the evidence, and nothing else. */
export function judge(writes: readonly SentWrite[], { applied, letters }: Evidence): string[] {
  const faults: string[] = [];
  const times = countOf(applied.map(({ n }) => n));
  const asLetters = countOf(letters);
  for (const { n, outcome, isDiscarded } of writes) {
    const done = times.get(n) ?? 0;
    const dead = asLetters.get(n) ?? 0;
    if (done > 1) faults.push(`write ${n} was applied ${done} times`);
    if (done > 0 && dead > 0) faults.push(`write ${n} was applied, and is a dead letter`);
    if (done + dead > 0 && outcome === 'refused') faults.push(`write ${n} was refused, and yet is there`);
    if (done + dead === 0 && outcome === 'acknowledged' && !isDiscarded) faults.push(`write ${n} is lost`);
    if (outcome === 'flying') faults.push(`write ${n} was never answered`);
  }
  return [...faults, ...misplaced(writes, applied)];
}

/** Writes out of order: within a box and namespace, first come, first applied. A retried dead letter or a repetition has no place. */
function misplaced(writes: readonly SentWrite[], applied: readonly AppliedWrite[]): string[] {
  const faults: string[] = [];
  const sent = new Map(writes.map((write) => [write.n, write]));
  const last = new Map<string, number>();
  for (const { n, isRetry } of applied) {
    const write = sent.get(n);
    if (write === undefined) faults.push(`write ${n} was never sent`);
    if (write === undefined || isRetry || write.isRepeated) continue;
    const queue = `${write.box} ${write.namespace}`;
    const before = last.get(queue) ?? 0;
    if (n < before) faults.push(`write ${n} was applied after ${before}`);
    last.set(queue, n);
  }
  return faults;
}

function countOf(numbers: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const n of numbers) counts.set(n, (counts.get(n) ?? 0) + 1);
  return counts;
}
