import { useMemo, useRef, useState } from 'preact/hooks';
import type { LineBuffer } from './line-buffer.ts';
import { EVERYTHING, type LineFilter } from './line-query.ts';
import { LineView } from './line-view.ts';

const WRAPS = 'panel.wrapLines';

export interface ShownLines {
  readonly view: LineView;
  readonly filter: LineFilter;
  setFilter(filter: LineFilter): void;
  readonly wraps: boolean;
  setWraps(wraps: boolean): void;
  setColumns(columns: number): void;
}

/** A view of a buffer that is up to date whenever it is rendered. `frozenAt` is the last line that is shown while it is paused. */
export function useLineView(buffer: LineBuffer, frozenAt: number | null): ShownLines {
  const [filter, setFilter] = useState(EVERYTHING);
  const [wraps, setWraps] = useState(() => localStorage.getItem(WRAPS) !== 'false');
  const [columns, setColumns] = useState(80);
  const view = useMemo(() => new LineView(buffer), [buffer]);
  const laidOut = useRef<readonly unknown[]>([]);
  const layout = [view, filter, wraps ? columns : Number.POSITIVE_INFINITY] as const;
  view.freeze(frozenAt);
  if (layout.every((part, index) => part === laidOut.current[index])) {
    // A paused view keeps lines that have fallen out of the buffer meanwhile.
    if (frozenAt === null) view.sync();
  } else {
    laidOut.current = layout;
    view.layOut(filter, layout[2]);
  }
  return {
    view,
    filter,
    setFilter,
    wraps,
    setWraps(value) {
      localStorage.setItem(WRAPS, String(value));
      setWraps(value);
    },
    setColumns,
  };
}

interface LineSearch {
  readonly position: number;
  readonly count: number;
  /** Sequence number of the line it goes to; null if nothing is found. */
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
