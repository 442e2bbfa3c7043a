const FIRST_MS = 100;
const MAX_MS = 30_000;

/** How long to wait after so many failures in a row (contract section 7). `random` gives 0 to 1: half of it is jitter. */
export function backoffMs(failures: number, random: () => number): number {
  const whole = Math.min(MAX_MS, FIRST_MS * 2 ** Math.min(failures - 1, 20));
  return whole / 2 + (whole / 2) * random();
}
