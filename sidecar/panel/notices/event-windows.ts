import type { UnsentNotice } from './notice.ts';

const WINDOW_MS = 30_000;

interface Window {
  /** Monotonic milliseconds. */
  endsAt: number;
  /** All that has happened since it was opened, as one notice. */
  held: UnsentNotice | null;
}

/** Makes one notice of a series: of each event the first goes at once, and what follows within 30 s goes at their end. */
export class EventWindows {
  readonly #windows = new Map<string, Window>();

  /** The notice if it goes at once; null if it is held. */
  take(notice: UnsentNotice, nowMs: number): UnsentNotice | null {
    const window = this.#windows.get(notice.event);
    if (window === undefined) {
      this.#windows.set(notice.event, { endsAt: nowMs + WINDOW_MS, held: null });
      return notice;
    }
    window.held = window.held === null ? notice : joined(window.held, notice);
    return null;
  }

  /** Notices of the windows that have ended. A window that held something is followed by the next. */
  due(nowMs: number): UnsentNotice[] {
    const ended: UnsentNotice[] = [];
    for (const [event, window] of this.#windows) {
      if (window.endsAt > nowMs) continue;
      if (window.held === null) this.#windows.delete(event);
      else {
        ended.push(window.held);
        this.#windows.set(event, { endsAt: nowMs + WINDOW_MS, held: null });
      }
    }
    return ended;
  }
}

function joined(earlier: UnsentNotice, later: UnsentNotice): UnsentNotice {
  return { ...later, count: earlier.count + later.count, firstTime: earlier.firstTime };
}
