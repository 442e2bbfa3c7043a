import { join } from 'node:path';
import type { Disk } from './disk.ts';
import { BLOCK_BYTES } from './frame.ts';
import { type HeaderFound, readHeader, segmentName, segmentNumber } from './segment-header.ts';
import type { JournalState } from './state-file.ts';
import { readAt } from './whole-file.ts';

/** A segment that a start has to read. */
export interface Link {
  readonly number: number;
  /** Where its acknowledged groups end; null where nothing says so, as of the newest one. */
  readonly end: number | null;
  readonly header: HeaderFound | 'missing';
}

/** The headers of all segments in the folder by their number. */
export async function readHeaders(disk: Disk, folder: string): Promise<Map<number, HeaderFound>> {
  const numbers = (await disk.list(folder)).map(segmentNumber).filter((number) => number !== null);
  const headers = new Map<number, HeaderFound>();
  for (const number of numbers.sort((a, b) => a - b)) {
    const file = await disk.open(join(folder, segmentName(number)), 'read');
    headers.set(number, readHeader(await readAt(file, 0, BLOCK_BYTES).finally(() => file.close())));
  }
  return headers;
}

/**
 * The segments that hold what was acknowledged, newest first. Each names the one before it; those older than the state
 * are named by it. A file that nobody names was made ahead, or given up after a failed flush.
 */
export function chainOf(headers: ReadonlyMap<number, HeaderFound>, state: JournalState | null): Link[] {
  const next = state?.next ?? 1;
  const links: Link[] = [];
  let number = newestOf(headers, state);
  let end: number | null = null;
  while (number >= next) {
    const header: HeaderFound | 'missing' = headers.get(number) ?? 'missing';
    // Without the state nobody knows whether it was removed because all of it was settled.
    if (header !== 'missing' || state !== null) links.push({ number, end, header });
    const below: number = typeof header === 'object' ? header.previous : lowerOf(headers, number);
    end = typeof header === 'object' ? header.previousEnd : null;
    number = below;
  }
  for (const [known, knownEnd] of [...(state?.ends ?? [])].reverse()) {
    links.push({ number: known, end: knownEnd, header: headers.get(known) ?? 'missing' });
  }
  return links;
}

function newestOf(headers: ReadonlyMap<number, HeaderFound>, state: JournalState | null): number {
  const used = [...headers].filter(([, header]) => header !== 'empty').map(([number]) => number);
  const newest = state !== null && state.newest >= state.next ? state.newest : 0;
  return Math.max(newest, ...used);
}

function lowerOf(headers: ReadonlyMap<number, HeaderFound>, number: number): number {
  return Math.max(0, ...[...headers.keys()].filter((each) => each < number && headers.get(each) !== 'empty'));
}
