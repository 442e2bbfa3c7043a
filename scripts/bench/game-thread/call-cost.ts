import { median } from '../median.ts';
import type { GameThreadFigures } from './measure-game-thread.ts';

/** Cost of a call for the game's thread, against that of another way in the same rounds. */
export interface CostRatio {
  /** Median of the ratios of the rounds; `least` and `most` are the outermost. */
  readonly ratio: number;
  readonly least: number;
  readonly most: number;
  /** Rounds in which both had calls. */
  readonly rounds: number;
  /** Medians. */
  readonly ownMicros: number;
  readonly otherMicros: number;
}

/** Microseconds of the thread for a call in a round, net of the idle thread of the same round; NaN without calls. */
function microsPerCall({ runs }: GameThreadFigures, name: string, round: number): number {
  const [figure, idle] = [runs[name]?.[round], runs.idle?.[round]?.thread];
  if (figure === undefined || idle === undefined || figure.calls === 0) return Number.NaN;
  const { calls, thread } = figure;
  return ((thread.cpuMs - (idle.cpuMs / idle.seconds) * thread.seconds) * 1000) / calls;
}

/** Runs by their names; undefined if no round has calls of both. */
export function costRatio(figures: GameThreadFigures, own: string, other: string): CostRatio | undefined {
  const rounds = (figures.runs[own] ?? []).flatMap((_figure, round) => {
    const [ownMicros, otherMicros] = [microsPerCall(figures, own, round), microsPerCall(figures, other, round)];
    return Number.isNaN(ownMicros + otherMicros) ? [] : [{ ownMicros, otherMicros, ratio: ownMicros / otherMicros }];
  });
  if (rounds.length === 0) return undefined;
  const ratios = rounds.map(({ ratio }) => ratio);
  return {
    ratio: median(ratios),
    least: Math.min(...ratios),
    most: Math.max(...ratios),
    rounds: rounds.length,
    ownMicros: median(rounds.map(({ ownMicros }) => ownMicros)),
    otherMicros: median(rounds.map(({ otherMicros }) => otherMicros)),
  };
}
