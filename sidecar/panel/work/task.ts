import type { ErrorDetails } from '../panel-error.ts';
import type { ErrorKey } from '../shapes/error-keys.ts';

/** 0 to 1. */
export type Report = (progress: number) => void;

/** Work of a thread beside the panel's: it gets and returns what `structuredClone` can copy. */
export type Task<Input = never, Output = unknown> = (input: Input, report: Report) => Promise<Output>;

export type FromThread =
  | { readonly type: 'progress'; readonly progress: number }
  | { readonly type: 'done'; readonly output: unknown }
  | { readonly type: 'refused'; readonly key: ErrorKey; readonly details: ErrorDetails }
  | { readonly type: 'failed'; readonly message: string; readonly code: string | null };

export interface ThreadWork {
  readonly name: string;
  readonly input: unknown;
}
