import type { PendingEntry, SettledMark } from './entries.ts';
import { FRAME_HEAD_BYTES } from './frame.ts';
import { keyRecord } from './key-record.ts';
import { KIND, type RecordHead, readHead, readKey, readPayload } from './records.ts';
import { type FoundFrame, type SegmentScan, scanSegment } from './segment-scan.ts';

export interface SegmentContent extends SegmentScan {
  readonly entries: readonly PendingEntry[];
  /** Records of its keys. */
  readonly keys: readonly Buffer[];
}

export interface SegmentPlace {
  readonly number: number;
  readonly end: number | null;
  readonly expectedBytes: number;
}

/**
 * Everything in a segment that is not known to be settled. Its own marks are added to `settled` first, so segments are
 * read from the newest to the oldest.
 */
export function readSegment(bytes: Buffer, place: SegmentPlace, settled: Map<string, SettledMark>): SegmentContent {
  const scan = scanSegment(bytes, place.number, place.end, place.expectedBytes);
  const records = scan.frames.flatMap((frame) => [...recordsOf(bytes, frame)]);
  for (const { head } of records) if (head.kind === KIND.mark) keepMark(settled, head);
  const entries: PendingEntry[] = [];
  const keys: Buffer[] = [];
  for (const { at, head } of records) {
    const key = head.kind === KIND.mark ? null : readKey(bytes, at);
    if (head.kind === KIND.entry) {
      if (head.position > (settled.get(head.namespace)?.position ?? 0)) entries.push(entryOf(place.number, at, head));
      if (key !== null) keys.push(keyRecord(key, { position: head.position, pending: head.pending, answer: null }));
    } else if (key !== null) {
      keys.push(keyRecord(key, { position: 0, pending: 0, answer: readPayload(bytes, at, head.length) }));
    }
  }
  return { ...scan, entries, keys };
}

export function keepMark(settled: Map<string, SettledMark>, mark: SettledMark & { readonly namespace: string }): void {
  const { namespace, token, position } = mark;
  if (position > (settled.get(namespace)?.position ?? 0)) settled.set(namespace, { token, position });
}

function* recordsOf(bytes: Buffer, frame: FoundFrame): Generator<{ at: number; head: RecordHead }> {
  const end = frame.at + FRAME_HEAD_BYTES + frame.contentBytes;
  for (let at = frame.at + FRAME_HEAD_BYTES; at < end; ) {
    const head = readHead(bytes, at);
    if (head === null) throw new Error(`group ${frame.group} of segment ${frame.segment} is not what was written`);
    yield { at, head };
    at += head.length;
  }
}

function entryOf(segment: number, offset: number, head: RecordHead): PendingEntry {
  const { position, namespace, token, time, payloadBytes: bytes, retryOf, length } = head;
  return { position, namespace, token, time, bytes, retryOf, segment, offset, length };
}
