import type { LoadResult } from './load.ts';
import { processorTimes } from './machine.ts';
import { median } from './median.ts';

const WANTED = 3;
const MOST_TRIES = 12;
/** Share of the processors that the host may take from this virtual machine in a window that counts. */
const MOST_STOLEN = 0.006;

/** A tail is the first thing that other machines on the same host change. */
export interface CalmP99 {
  /** Median of the windows that count. */
  readonly p99Ms: number;
  /** Windows in which the host left this machine its processors. */
  readonly calm: number;
  readonly all: number;
}

/** Loads one after another until enough of them were calm. One after which `counts` is false is left out. */
export async function calmP99(load: () => Promise<LoadResult>, counts = () => true): Promise<CalmP99> {
  const [calm, every]: [number[], number[]] = [[], []];
  for (let tries = 0; tries < MOST_TRIES && calm.length < WANTED; tries += 1) {
    const before = processorTimes();
    const { p99Ms } = await load();
    const after = processorTimes();
    if (!counts()) continue;
    every.push(p99Ms);
    if (after.stolen - before.stolen <= MOST_STOLEN * (after.all - before.all)) calm.push(p99Ms);
  }
  return { p99Ms: median(calm.length === 0 ? every : calm), calm: calm.length, all: every.length };
}

/** Whether each had the windows that it wanted. */
export const areCalm = (...figures: readonly CalmP99[]): boolean => figures.every(({ calm }) => calm >= WANTED);

export function calmText({ p99Ms, calm, all }: CalmP99): string {
  return `${p99Ms.toFixed(2)} ms, ${calm} calm of ${all} windows`;
}
