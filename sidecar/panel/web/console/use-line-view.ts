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
    // What is paused keeps also what has fallen out meanwhile.
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
