import { linkTo } from '../core/router.ts';

/** Address of a line: in the live console, or in its history where it is no longer there. */
export function consoleLink(seq: number): string {
  return linkTo('console', [], { line: String(seq) });
}

/** The line that an address names. */
export function seqOf(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}
