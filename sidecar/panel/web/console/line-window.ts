import type { Entry } from './entry.ts';
import type { LineView } from './line-view.ts';
import type { ListSize } from './use-list-size.ts';

/** Rows beyond the edges, so that a quick finger does not see the ground. */
const BEYOND = 12;

export interface ShownRow {
  readonly entry: Entry;
  readonly height: number;
}

export interface ShownWindow {
  /** Pixels from the top of the list. */
  readonly top: number;
  readonly rows: readonly ShownRow[];
}

/** The lines in sight when the list is scrolled to `top`, whole, and some more. */
export function visibleWindow(view: LineView, top: number, { height, rowHeight }: ListSize): ShownWindow {
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
