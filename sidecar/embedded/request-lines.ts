import { LOG_EVENT } from '../log-event.ts';
import type { SidecarLine } from './readable-line.ts';

const EACH_MS = 30_000;

interface Told {
  readonly atMs: number;
  leftOut: number;
}

/**
 * Lines about single requests: while the database is away there may be hundreds of one kind, among which the line that says
 * so would not be found. The first of a kind is for the console, and then one each half minute; the log file has them all.
 */
export class RequestLines {
  readonly #told = new Map<string, Told>();

  /** How many of its kind were left out since the last one; null where this one is to be left out, too. */
  leftOutBefore({ msg, fields }: SidecarLine, nowMs: number): number | null {
    if (fields.event !== LOG_EVENT.request) return 0;
    const kind = `${msg} ${fields.code}`;
    const last = this.#told.get(kind);
    if (last !== undefined && nowMs - last.atMs < EACH_MS) {
      last.leftOut += 1;
      return null;
    }
    this.#told.set(kind, { atMs: nowMs, leftOut: 0 });
    return last?.leftOut ?? 0;
  }
}
