import type { Engine } from '../engine/engine.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';

/** Progress and results of a move, while it runs. */
export interface MoveReport {
  /** A single line. */
  say(line: string): void;
  /** Rows to come under a name, null if their number is not known; ends what was begun before. */
  begin(label: string, rows: number | null): void;
  advance(rows: number): void;
  /** Lines with columns below each other; `right` names those that hold numbers. */
  table(header: readonly string[], cells: readonly (readonly string[])[], right: readonly string[]): void;
  end(): void;
}

/** 1234567 as 1,234,567, whatever the machine's language. */
export function grouped(count: number): string {
  return count.toLocaleString('en-US');
}

/** 61234567 as 59 MiB, as the panel shows sizes. @param rounding `Math.floor` for room that is there, up for room that is needed */
export function sized(bytes: number, rounding: (value: number) => number = Math.ceil): string {
  const [unit, size]: [string, number] =
    bytes < 2 ** 20 ? ['KiB', 2 ** 10] : bytes < 10 * 2 ** 30 ? ['MiB', 2 ** 20] : ['GiB', 2 ** 30];
  return `${grouped(rounding(bytes / size))} ${unit}`;
}

/** Refusal of a move: one line that names what the owner must decide or fix. Nothing was changed. */
export class MoveRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MoveRefused';
  }
}

/** Another process does such work now; the same command may succeed later. */
export class MoveBusy extends MoveRefused {
  /** Exit code of a command that ends with it. */
  static readonly exitCode = 3;
}

/** The target holds rows already. */
export class TargetOccupied extends MoveRefused {}

export interface CopyEngines {
  readonly from: Engine;
  readonly to: Engine;
}

/** A namespace that is being copied. */
export interface CopyWork {
  readonly engines: CopyEngines;
  /** Both with the same tables. */
  readonly stored: { readonly from: StoredSchema; readonly to: StoredSchema };
  readonly report: MoveReport;
  /** Ends the work between two pages. */
  readonly signal: AbortSignal;
}
