import { sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Bundle } from './bundle.ts';

/** Why a bundle does not start, in words that need no stack. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/** With its stack if it has one, since the reader of the console needs the place; without Node.js's own part of it. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const stack = error.stack ?? '';
  const text = stack.includes(error.message) ? stack : `${error.name}: ${error.message}\n${stack}`;
  const own = text.split('\n').filter((line) => !/^\s+at .*\(?node:internal\//.test(line));
  const cause = error.cause === undefined ? '' : `\ncaused by ${describeError(error.cause)}`;
  return own.join('\n').trimEnd() + cause;
}

/** The bundle whose code stands highest in the stack; undefined if none does. */
export function findCulprit(error: unknown, bundles: readonly Bundle[]): Bundle | undefined {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  for (const line of stack.split('\n')) {
    const culprit = bundles.find(({ folder }) => standsIn(line, folder));
    if (culprit !== undefined) return culprit;
  }
  return undefined;
}

/** Modules appear as URLs, CommonJS as paths. */
function standsIn(line: string, folder: string): boolean {
  return line.includes(pathToFileURL(folder + sep).href) || line.includes(folder + sep);
}

const QUIET_MS = 10_000;
const MAX_KINDS = 1000;

/** Keeps what happens in a quick timer from filling the console: each thing is told at most once in ten seconds. */
export class Repetitions {
  readonly #told = new Map<string, { atMs: number; untold: number }>();

  /** How often this happened since it was told, if it is to be told now; else 0. */
  count(what: string): number {
    const now = performance.now();
    const known = this.#told.get(what);
    if (known !== undefined && now - known.atMs < QUIET_MS) {
      known.untold += 1;
      return 0;
    }
    if (this.#told.size >= MAX_KINDS) this.#told.clear();
    this.#told.set(what, { atMs: now, untold: 0 });
    return 1 + (known?.untold ?? 0);
  }
}
