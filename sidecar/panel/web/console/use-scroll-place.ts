import type { RefObject } from 'preact';
import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { LineView } from './line-view.ts';

/** Where to go: a line, in the middle of the list. Another object is another wish, also for the same line. */
export interface Wish {
  readonly seq: number;
}

interface ScrollProps {
  readonly view: LineView;
  readonly follows: boolean;
  readonly wish: Wish | null;
  readonly selected: number | null;
  readonly onFollow: (follows: boolean) => void;
}

/** Place that the reader looks at: pixels below the top of this line. Stays while lines come in above or fall out. */
interface Anchor {
  readonly seq: number;
  readonly offset: number;
}

/** How far the list is scrolled: at its end, where a wish leads, or where the reader has put it. */
export function useScrollPlace(
  { view, follows, wish, selected, onFollow }: ScrollProps,
  frame: { readonly current: HTMLDivElement | null },
  size: ListSize | null,
) {
  const { height, rowHeight } = size ?? { height: 0, rowHeight: 1 };
  const [, setTurn] = useState(0);
  const anchor = useRef<Anchor>({ seq: -1, offset: 0 });
  const granted = useRef<Wish | null>(null);
  const shown = useRef('');
  const expected = useRef(0);
  if (wish !== null && granted.current !== wish && height > 0) {
    granted.current = wish;
    anchor.current = { seq: wish.seq, offset: -height / 2 };
  }
  let top = topOf(view, follows ? null : anchor.current, height, rowHeight);
  const look = `${selected} ${height}`;
  // The picked line comes into sight, and stays there when its details take a part of the room.
  if (!follows && selected !== null && shown.current !== look) top = inSight(view, selected, top, height, rowHeight);
  // A reader who stops following stays where the list is.
  if (follows || shown.current !== look) anchor.current = anchorAt(view, top, rowHeight);
  shown.current = look;
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    if (Math.abs(element.scrollTop - top) > 1) element.scrollTop = top;
    expected.current = element.scrollTop;
  });
  const latest = useRef({ view, rowHeight, onFollow });
  latest.current = { view, rowHeight, onFollow };
  const onScroll = useCallback(() => {
    const element = frame.current;
    // Setting `scrollTop` here fires a scroll event too; it is not the reader's.
    if (element === null || Math.abs(element.scrollTop - expected.current) <= 2) return;
    const now = latest.current;
    anchor.current = anchorAt(now.view, element.scrollTop, now.rowHeight);
    expected.current = element.scrollTop;
    now.onFollow(element.scrollTop + element.clientHeight >= element.scrollHeight - now.rowHeight);
    setTurn((turn) => turn + 1);
  }, []);
  return { top, onScroll };
}

/** Null is the end. */
function topOf(view: LineView, anchor: Anchor | null, height: number, rowHeight: number): number {
  const end = Math.max(0, (view.endRow - view.firstRow) * rowHeight - height);
  if (anchor === null) return end;
  const row = view.rowOf(view.numberOfSeq(anchor.seq)) - view.firstRow;
  return Math.max(0, Math.min(end, row * rowHeight + anchor.offset));
}

/** The least that has to be scrolled. */
function inSight(view: LineView, seq: number, top: number, height: number, rowHeight: number): number {
  const number = view.numberOfSeq(seq);
  if (view.entryAt(number)?.seq !== seq) return top;
  const start = (view.rowOf(number) - view.firstRow) * rowHeight;
  const end = start + view.rowsAt(number) * rowHeight;
  return Math.max(0, Math.min(start, Math.max(top, end - height)));
}

function anchorAt(view: LineView, top: number, rowHeight: number): Anchor {
  const at = view.numberAtRow(view.firstRow + Math.floor(top / rowHeight));
  const start = (view.rowOf(at) - view.firstRow) * rowHeight;
  return { seq: view.entryAt(at)?.seq ?? -1, offset: top - start };
}

export interface ListSize {
  readonly height: number;
  readonly rowHeight: number;
  /** Cells of a row of text. */
  readonly columns: number;
}

/** The probe is a line with a hundred zeros: what it measures is what the lines beside it have. */
export function useListSize(
  frame: RefObject<HTMLElement | null>,
  probe: RefObject<HTMLElement | null>,
): ListSize | null {
  const [size, setSize] = useState<ListSize | null>(null);
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setSize((before) => measured(element, probe.current) ?? before));
    observer.observe(element);
    setSize(measured(element, probe.current));
    return () => observer.disconnect();
  }, []);
  return size;
}

function measured(frame: HTMLElement, probe: HTMLElement | null): ListSize | null {
  const zeros = probe?.querySelector('span')?.getBoundingClientRect();
  const room = probe?.getBoundingClientRect().width ?? 0;
  if (zeros === undefined || zeros.width === 0 || room === 0) return null;
  const columns = Math.max(10, Math.floor((room * 100) / zeros.width));
  return { height: frame.clientHeight, rowHeight: Math.max(1, probe?.clientHeight ?? 1), columns };
}
