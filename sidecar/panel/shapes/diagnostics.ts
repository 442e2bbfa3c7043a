export const DIAGNOSTIC_SOURCES = ['server', 'panel', 'api', 'bridge'] as const;
export type DiagnosticSource = (typeof DIAGNOSTIC_SOURCES)[number];

export const DIAGNOSTIC_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type DiagnosticLevel = (typeof DIAGNOSTIC_LEVELS)[number];

/** Entry of `GET /api/diagnostics`. */
export interface DiagnosticEntry {
  /** Leads to what is older than this entry. */
  readonly cursor: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly time: string;
  readonly source: DiagnosticSource;
  /** A bundle or a part; empty if the line names none. */
  readonly module: string;
  readonly level: DiagnosticLevel;
  readonly text: string;
}

export interface DiagnosticPage {
  /** Newest first. */
  readonly entries: readonly DiagnosticEntry[];
  /** Leads to older ones; null at the end. */
  readonly cursor: string | null;
  readonly more: boolean;
}
