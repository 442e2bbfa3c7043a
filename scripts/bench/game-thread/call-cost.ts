import { median } from '../median.ts';
import type { GameThreadFigures } from './measure-game-thread.ts';

/** Cost of a call for the game's thread, against that of another way in the same rounds. */
export interface CostRatio {
  /** Median of the ratios of the rounds; `least` and `most` are the outermost. */
  readonly ratio: number;
  readonly least: number;
  readonly most: number;
  readonly rounds: number;
  /** Medians. */
  readonly ownMicros: number;
  readonly otherMicros: number;
}

/** Microseconds of the thread for a call in each round, net of the idle thread of the same round. */
function microsPerCall({ runs }: GameThreadFigures, name: string): number[] {
  const idles = runs.idle ?? [];
  return (runs[name] ?? []).flatMap(({ calls, thread }, round) => {
    const idle = idles[round]?.thread;
    if (idle === undefined || calls === 0) return [];
    return [((thread.cpuMs - (idle.cpuMs / idle.seconds) * thread.seconds) * 1000) / calls];
  });
}

/** Runs by their names; undefined if a run is missing, or had no calls in a round. */
export function costRatio(figures: GameThreadFigures, own: string, other: string): CostRatio | undefined {
  const [owns, others] = [microsPerCall(figures, own), microsPerCall(figures, other)];
  const ratios = owns.map((micros, round) => micros / (others[round] ?? Number.NaN));
  const rounds = figures.runs[own]?.length ?? 0;
  if (rounds === 0 || ratios.length < rounds || others.length < rounds) return undefined;
  return {
    ratio: median(ratios),
    least: Math.min(...ratios),
    most: Math.max(...ratios),
    rounds,
    ownMicros: median(owns),
    otherMicros: median(others),
  };
}
