import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { LineRow } from './line-row.tsx';
import type { LineView } from './line-view.ts';
import { visibleWindow } from './line-window.ts';
import { useListSize } from './use-list-size.ts';

/** Where to go: a line, in the middle of the list. Another object is another wish, also for the same line. */
export interface Wish {
  readonly seq: number;
}

export interface LineListProps {
  readonly view: LineView;
  readonly label: string;
  /** Stays at the end. */
  readonly follows: boolean;
  readonly wish: Wish | null;
  readonly selected: number | null;
  /** Long lines go on in the next row; else the list is as wide as they are. */
  readonly wraps: boolean;
  readonly linkOf: (seq: number) => string;
  readonly onFollow: (follows: boolean) => void;
  /** Whether the first line is in sight. */
  readonly onTop?: (isAtTop: boolean) => void;
  readonly onSelect: (seq: number | null) => void;
  /** Cells of a row, as soon as they are known and whenever they change. */
  readonly onColumns: (columns: number) => void;
}

/** What the reader looks at: so many pixels below the top of this line. Holds whatever comes in above or falls out. */
interface Anchor {
  readonly seq: number;
  readonly offset: number;
}

/** Thousands of lines, of which only those in sight are elements. */
export function LineList(props: LineListProps) {
  const { view, follows, wish, selected, linkOf, onSelect } = props;
  const frame = useRef<HTMLDivElement>(null);
  const probe = useRef<HTMLSpanElement>(null);
  const size = useListSize(frame, probe);
  const place = useScrollPlace(props, frame, size?.rowHeight ?? 1, size?.height ?? 0, wish);
  const columns = size?.columns;
  useLayoutEffect(() => {
    if (columns !== undefined) props.onColumns(columns);
  }, [columns]);
  const isAtTop = place.top < (size?.rowHeight ?? 1);
  useEffect(() => props.onTop?.(isAtTop), [isAtTop]);
  const shown = size === null ? null : visibleWindow(view, place.top, size);
  return (
    <div
      class="lines"
      ref={frame}
      role="log"
      aria-live="off"
      aria-label={props.label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard
      tabIndex={0}
      data-follows={follows}
      data-wraps={props.wraps}
      onScroll={place.onScroll}
      onKeyDown={(event) => moveSelection(event, view, selected, onSelect)}
    >
      <div class="line line-probe" aria-hidden="true">
        <span class="line-time">00:00:00</span>
        <span class="line-text" ref={probe}>
          <span>{'0'.repeat(100)}</span>
        </span>
      </div>
      <div class="lines-space" style={{ height: `${(view.endRow - view.firstRow) * (size?.rowHeight ?? 1)}px` }}>
        {shown !== null && (
          <div class="lines-window" style={{ transform: `translateY(${shown.top}px)` }}>
            {shown.rows.map(({ entry, height }) => (
              <LineRow
                key={entry.seq}
                entry={entry}
                pattern={view.pattern}
                height={height}
                link={linkOf(entry.seq)}
                isSelected={entry.seq === selected}
                onSelect={onSelect}
              />
            ))}
          </div>
        )}
      </div>
    </div>
  );
}

function useScrollPlace(
  { view, follows, onFollow }: LineListProps,
  frame: { readonly current: HTMLDivElement | null },
  rowHeight: number,
  height: number,
  wish: Wish | null,
) {
  const [, setTurn] = useState(0);
  const anchor = useRef<Anchor>({ seq: -1, offset: 0 });
  const granted = useRef<Wish | null>(null);
  const expected = useRef(0);
  if (wish !== null && granted.current !== wish && height > 0) {
    granted.current = wish;
    anchor.current = { seq: wish.seq, offset: -height / 2 };
  }
  const end = Math.max(0, (view.endRow - view.firstRow) * rowHeight - height);
  const row = view.rowOf(view.numberOfSeq(anchor.current.seq)) - view.firstRow;
  const top = follows ? end : Math.max(0, Math.min(end, row * rowHeight + anchor.current.offset));
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    if (Math.abs(element.scrollTop - top) > 1) element.scrollTop = top;
    expected.current = element.scrollTop;
    // Who stops to follow goes on to see what was just in sight.
    if (follows) anchor.current = anchorAt(view, rowHeight, top);
  });
  const latest = useRef({ view, rowHeight, onFollow });
  latest.current = { view, rowHeight, onFollow };
  const onScroll = useCallback(() => {
    const element = frame.current;
    // What is set here scrolls as well, and is nobody's wish.
    if (element === null || Math.abs(element.scrollTop - expected.current) <= 2) return;
    const now = latest.current;
    anchor.current = anchorAt(now.view, now.rowHeight, element.scrollTop);
    expected.current = element.scrollTop;
    now.onFollow(element.scrollTop + element.clientHeight >= element.scrollHeight - now.rowHeight);
    setTurn((turn) => turn + 1);
  }, []);
  return { top, onScroll };
}

function anchorAt(view: LineView, rowHeight: number, top: number): Anchor {
  const at = view.numberAtRow(view.firstRow + Math.floor(top / rowHeight));
  const start = (view.rowOf(at) - view.firstRow) * rowHeight;
  return { seq: view.entryAt(at)?.seq ?? -1, offset: top - start };
}

/** Enter takes the last line, up and down its neighbours, Escape none. */
function moveSelection(
  event: KeyboardEvent,
  view: LineView,
  selected: number | null,
  onSelect: (seq: number | null) => void,
): void {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (event.key === 'Escape' && selected !== null) onSelect(null);
  else if (event.key === 'Enter' && selected === null) onSelect(view.entryAt(view.end - 1)?.seq ?? null);
  else if (step !== undefined && selected !== null) {
    const next = view.entryAt(view.numberOfSeq(selected) + step);
    if (next !== undefined) onSelect(next.seq);
    event.preventDefault();
  }
}
