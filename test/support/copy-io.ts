import type { MoveIo } from '#sidecar/commands/command-process.ts';
import { MoveProgress } from '#sidecar/commands/move-progress.ts';

export interface CopyRun {
  readonly lines: string[];
  readonly errors: string[];
  readonly io: MoveIo;
  readonly isDone?: boolean;
  /** `[table, rows, checksum]` of each line that tells that a table is equal. */
  checksums(): string[][];
  /** Called when rows of a table begin to move. */
  onBegin(hear: (label: string) => unknown): void;
}

/** Keeps the output of a move, as it is without a terminal. */
export function copyIo(): CopyRun & { readonly ending: AbortController } {
  const lines: string[] = [];
  const errors: string[] = [];
  const ending = new AbortController();
  const report = new MoveProgress({
    print: (line) => lines.push(line),
    draw: null,
    monotonicNow: () => performance.now(),
  });
  const begin = report.begin.bind(report);
  let hear: (label: string) => unknown = () => undefined;
  report.begin = (label, rows) => {
    hear(label);
    begin(label, rows);
  };
  return {
    lines,
    errors,
    ending,
    io: { report, printError: (line) => errors.push(line), environment: {}, waitForIdle() {}, signal: ending.signal },
    checksums: () => lines.flatMap((line) => (line.endsWith('  equal') ? [line.split(/\s{2,}/).slice(0, 3)] : [])),
    onBegin: (listener) => {
      hear = listener;
    },
  };
}
