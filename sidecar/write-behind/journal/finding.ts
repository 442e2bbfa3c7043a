import type { EngineLog } from '#engine/log.ts';
import type { FoundFrame, Gap } from './segment-scan.ts';

/**
 * What a start found wrong; it has its line in the log already. `torn`: the last group was cut off before it was
 * acknowledged, as a power failure does. `lost`: acknowledged writes are gone.
 */
export interface JournalFinding {
  readonly kind: 'torn' | 'lost';
  readonly file: string;
  /** Bytes that could not be read as what they should be. */
  readonly bytes: number;
  /** Entries of the first group among them, where its beginning can be read. */
  readonly writes: number | null;
  /** Positions that are gone, as far as that can be told. */
  readonly firstPosition: number | null;
  readonly lastPosition: number | null;
}

/** What the bytes of a gap were, as far as the groups around it tell. `before` and `after`: positions around the segment. */
export function findingOf(
  file: string,
  gap: Gap,
  frames: readonly FoundFrame[],
  before: number,
  after: number | null,
): JournalFinding {
  const last = frames.filter((frame) => frame.at < gap.at).at(-1);
  const next = frames.find((frame) => frame.at > gap.at);
  const firstPosition = (last?.lastPosition ?? before) + 1;
  const lastPosition = next === undefined ? after : next.firstPosition - 1;
  return { kind: gap.kind, file, bytes: gap.bytes, writes: gap.count, firstPosition, lastPosition };
}

export function reportFinding(log: EngineLog, folder: string, finding: JournalFinding): void {
  const { kind, file, bytes, writes, firstPosition, lastPosition } = finding;
  if (kind === 'torn') {
    const what = `the last group of ${file} was cut off (${writes ?? 'some'} writes, ${bytes} bytes)`;
    log('warn', `${what}: none of it was acknowledged, unless the disk does not keep what it promised`, { folder });
    return;
  }
  log('error', `${file} of the journal is damaged or missing: ${lostBetween(firstPosition, lastPosition)}`, {
    folder,
    bytes,
  });
}

function lostBetween(first: number | null, last: number | null): string {
  if (first === null && last === null) return 'acknowledged writes may be lost, and nothing tells which';
  const from = first === null ? 'up to' : `from position ${first}`;
  const to = last === null ? 'on' : `${first === null ? 'position' : 'to'} ${last}`;
  return `acknowledged writes ${from} ${to} are lost`;
}
