import type { Sums } from './statistics-book.ts';
import type { StoredSums } from './statistics-table.ts';

const NAMES = ['saves', 'seconds', 'metres', 'kills'] as const satisfies readonly (keyof Sums)[];

/** Compares acknowledged sums with stored ones: one line, a loud one if anything is missing or stored twice. */
export function describeStatistics(saved: Sums, { players, sums }: StoredSums): string {
  const wrong = NAMES.filter((name) => saved[name] !== sums[name]);
  if (wrong.length === 0) {
    const [saves, metres, kills] = [sums.saves, sums.metres, sums.kills].map((value) => value.toLocaleString('en'));
    return (
      `statistics ok: ${saves} saves of ${players.toLocaleString('en')} players, ` +
      `${showDuration(sums.seconds)} played, ${metres} m, ${kills} kills`
    );
  }
  const details = wrong.map((name) => `${name} ${saved[name]} acknowledged, ${sums[name]} stored`);
  return `!!! STATISTICS MISMATCH !!! ${details.join('; ')}. Look at the sidecar's dead letters (dead-letters list) and log`;
}

/** `5 h 07 min`. */
export function showDuration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  return `${Math.floor(minutes / 60).toLocaleString('en')} h ${String(minutes % 60).padStart(2, '0')} min`;
}
