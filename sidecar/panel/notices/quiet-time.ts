import { wallAt } from '../local-time.ts';
import type { NoticeEvent, QuietHours } from '../shapes/notices.ts';
import type { Notice } from './notice.ts';

/** An event of the quiet hours, as `data.events` of the digest lists it. */
export interface QuietEvent {
  readonly event: NoticeEvent | string;
  readonly count: number;
  readonly firstTime: string;
  readonly time: string;
}

/** Whether the clock on the wall of the zone shows quiet hours; they may begin before midnight. */
export function isQuiet({ from, to, timeZone }: QuietHours, epochMs: number): boolean {
  const time = new Date(wallAt(timeZone, epochMs)).toISOString().slice(11, 16);
  return from < to ? time >= from && time < to : time >= from || time < to;
}

/** Counts what happens in quiet hours, event by event. */
export class QuietTime {
  readonly #events = new Map<string, QuietEvent>();

  get isEmpty(): boolean {
    return this.#events.size === 0;
  }

  add({ event, count, firstTime, time }: Notice): void {
    const known = this.#events.get(event);
    const earlier = known ?? { count: 0, firstTime };
    this.#events.set(event, { event, count: earlier.count + count, firstTime: earlier.firstTime, time });
  }

  /** Events in the order in which they first happened. */
  end(): readonly QuietEvent[] {
    const events = [...this.#events.values()];
    this.#events.clear();
    return events;
  }
}
