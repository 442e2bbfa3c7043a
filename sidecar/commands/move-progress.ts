import { grouped, type MoveReport } from '../moving/report.ts';
import { alignedLines, visibleText } from './lines.ts';

export interface ProgressOutput {
  /** Writes one line. */
  readonly print: (line: string) => void;
  /** Writes text as it is, on a terminal only; null elsewhere. */
  readonly draw: ((text: string) => void) | null;
  /** `performance.now()` milliseconds. */
  readonly monotonicNow: () => number;
}

const BAR_CELLS = 24;
const DRAW_EVERY_MS = 100;
const LINE_EVERY_MS = 10_000;
const ERASE_LINE = '\r\u001b[K';

/** A bar that moves on a terminal; elsewhere a line now and then. */
export class MoveProgress implements MoveReport {
  readonly #output: ProgressOutput;
  #label = '';
  #total: number | null = 0;
  #done = 0;
  #startedAt = 0;
  #shownAt = 0;

  constructor(output: ProgressOutput) {
    this.#output = output;
  }

  say(line: string): void {
    this.#output.draw?.(ERASE_LINE);
    this.#output.print(visibleText(line));
  }

  begin(label: string, rows: number | null): void {
    this.#label = visibleText(label);
    this.#total = rows;
    this.#done = 0;
    this.#startedAt = this.#output.monotonicNow();
    this.#shownAt = this.#startedAt;
  }

  advance(rows: number): void {
    this.#done += rows;
    const now = this.#output.monotonicNow();
    const { draw, print } = this.#output;
    if (now - this.#shownAt < (draw === null ? LINE_EVERY_MS : DRAW_EVERY_MS)) return;
    this.#shownAt = now;
    if (draw === null) print(this.#line(now));
    else draw(`${ERASE_LINE}${this.#total === null ? '' : `${this.#bar()} `}${this.#line(now)}`);
  }

  table(header: readonly string[], cells: readonly (readonly string[])[], right: readonly string[]): void {
    const shown = cells.map((row) => row.map(visibleText));
    for (const line of alignedLines(header, shown, right)) this.say(line);
  }

  end(): void {
    this.#output.draw?.(ERASE_LINE);
  }

  #bar(): string {
    const total = this.#total ?? 0;
    const share = total === 0 ? 1 : Math.min(1, this.#done / total);
    const full = Math.floor(share * BAR_CELLS);
    return `[${'#'.repeat(full)}${'.'.repeat(BAR_CELLS - full)}]`;
  }

  #line(now: number): string {
    const seconds = (now - this.#startedAt) / 1000;
    const perSecond = seconds === 0 ? 0 : Math.round(this.#done / seconds);
    const total = this.#total === null ? '' : ` of ${grouped(this.#total)}`;
    return `${this.#label}: ${grouped(this.#done)}${total} rows, ${grouped(perSecond)}/s`;
  }
}
