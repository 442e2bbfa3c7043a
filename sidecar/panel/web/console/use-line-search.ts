import { useState } from 'preact/hooks';
import type { LineView } from './line-view.ts';

export interface LineSearch {
  readonly position: number;
  readonly count: number;
  /** Sequence number of the line it goes to; null where nothing is found. */
  step(direction: 1 | -1): number | null;
}

/** Match that the reader is at, of those that the search finds. */
export function useLineSearch(view: LineView, search: string): LineSearch {
  const [reached, setReached] = useState<{ search: string; seq: number | null }>({ search, seq: null });
  const seq = reached.search === search ? reached.seq : null;
  const { matches } = view;
  const at = seq === null ? matches.end : matches.search((number) => (view.entryAt(number)?.seq ?? -1) >= seq);
  const isAt = seq !== null && at < matches.end;
  return {
    position: isAt ? at - matches.start + 1 : 0,
    count: matches.length,
    step(direction) {
      if (matches.length === 0) return null;
      // The first step goes to the newest match, in either direction.
      const wanted = seq === null ? matches.end - 1 : at + direction;
      const next = wanted >= matches.end ? matches.start : wanted < matches.start ? matches.end - 1 : wanted;
      const found = view.entryAt(matches.at(next) ?? -1)?.seq ?? null;
      setReached({ search, seq: found });
      return found;
    },
  };
}
