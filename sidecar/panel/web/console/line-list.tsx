import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Entry } from './entry.ts';
import { LineRow } from './line-row.tsx';
import type { LineView } from './line-view.ts';
import { type ListSize, useListSize, useScrollPlace, type Wish } from './use-scroll-place.ts';

interface LineListProps {
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

/** Thousands of lines; only the lines in sight are elements. */
export function LineList(props: LineListProps) {
  const { view, follows, selected, linkOf, onSelect } = props;
  const frame = useRef<HTMLDivElement>(null);
  const probe = useRef<HTMLSpanElement>(null);
  const size = useListSize(frame, probe);
  const place = useScrollPlace(props, frame, size);
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
      onPointerDown={(event) => {
        // Text that somebody marks must not move away under the hand. The list itself is its scroll bar.
        if (event.target !== event.currentTarget) props.onFollow(false);
      }}
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
                columns={view.columns}
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

/** Rows beyond the edges, so that a quick finger does not see the ground. */
const BEYOND = 12;

interface ShownRow {
  readonly entry: Entry;
  readonly height: number;
}

interface ShownWindow {
  /** Pixels from the top of the list. */
  readonly top: number;
  readonly rows: readonly ShownRow[];
}

/** The lines in sight when the list is scrolled to `top`, whole, and some more. */
function visibleWindow(view: LineView, top: number, { height, rowHeight }: ListSize): ShownWindow {
  const firstRow = view.firstRow + Math.max(0, Math.floor(top / rowHeight) - BEYOND);
  const endRow = view.firstRow + Math.ceil((top + height) / rowHeight) + BEYOND;
  const start = view.numberAtRow(firstRow);
  const rows: ShownRow[] = [];
  for (let number = start; number < view.end && view.rowOf(number) < endRow; number++) {
    const entry = view.entryAt(number) as Entry;
    rows.push({ entry, height: view.rowsAt(number) * rowHeight });
  }
  return { top: (view.rowOf(start) - view.firstRow) * rowHeight, rows };
}
