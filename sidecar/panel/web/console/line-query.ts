import type { LineStream } from '#panel/shapes/console.ts';
import type { Entry } from './entry.ts';
import type { Span } from './sgr.ts';

/** Filter of the console's lines. */
export interface LineFilter {
  /** Empty for every bundle. */
  readonly source: string;
  readonly streams: readonly LineStream[];
  readonly search: string;
  /** Leaves out what the search does not find; else it is only marked. */
  readonly onlyMatches: boolean;
}

export const STREAMS: readonly LineStream[] = ['out', 'err', 'in', 'panel'];
export const EVERYTHING: LineFilter = { source: '', streams: STREAMS, search: '', onlyMatches: false };

/** A piece of a line with what the search found set apart. */
export interface MarkedSpan extends Span {
  readonly marked: boolean;
}

/** Literal pattern of the search, in either case; null if the search is empty. */
export function searchPattern(search: string): RegExp | null {
  return search === '' ? null : new RegExp(search.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'giu');
}

export function isWanted(entry: Entry, filter: LineFilter, pattern: RegExp | null): boolean {
  if (entry.missingFrom !== null) return true;
  if (!filter.streams.includes(entry.stream)) return false;
  // Commands and lines of the panel belong to every bundle's story.
  if (filter.source !== '' && entry.source !== filter.source && entry.stream !== 'in' && entry.stream !== 'panel')
    return false;
  return !filter.onlyMatches || pattern === null || isMatch(entry, pattern);
}

export function isMatch(entry: Entry, pattern: RegExp): boolean {
  pattern.lastIndex = 0;
  return pattern.test(entry.plain);
}

/** Cuts the pieces where matches begin and end; a match may reach over several. The texts together stay the same. */
export function markMatches(spans: readonly Span[], pattern: RegExp | null): MarkedSpan[] {
  if (pattern === null) return spans.map((span) => ({ ...span, marked: false }));
  const whole = spans.map((span) => span.text).join('');
  const edges = [...whole.matchAll(pattern)].flatMap((match) => [match.index, match.index + match[0].length]);
  const marked: MarkedSpan[] = [];
  let position = 0;
  for (const span of spans) {
    const end = position + span.text.length;
    const cuts = [position, ...edges.filter((edge) => edge > position && edge < end), end];
    for (let index = 0; index + 1 < cuts.length; index++) {
      const from = cuts[index] as number;
      const text = whole.slice(from, cuts[index + 1]);
      if (text !== '') marked.push({ text, classes: span.classes, marked: isInside(edges, from) });
    }
    position = end;
  }
  return marked;
}

/** Edges are beginnings and ends in turn. */
function isInside(edges: readonly number[], position: number): boolean {
  return edges.filter((edge) => edge <= position).length % 2 === 1;
}
