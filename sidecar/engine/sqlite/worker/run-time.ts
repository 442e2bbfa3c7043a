const FADING = 0.7;

/** What a statement is expected to take next: its last run, or a slower one before that fades. */
export function expectedMs(ranMs: number, before: number | null): number {
  return Math.max(ranMs, (before ?? 0) * FADING);
}
