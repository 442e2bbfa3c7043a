import type { KeySlot, NewEntry, PendingEntry, SettledMark } from './entries.ts';
import { BLOCK_BYTES, FRAME_HEAD_BYTES, frameBytes, writeFrame } from './frame.ts';
import { keyRecord } from './key-record.ts';
import { type JournalRecord, KIND, NOTHING, payloadBytesAt, roomOf, writeRecord } from './records.ts';
import { type SegmentHeader, writeHeader } from './segment.ts';

/** Room for the header before the first group of a segment, so that one write and one flush store both. */
const FRAME_AT = BLOCK_BYTES;
const CONTENT_AT = FRAME_AT + FRAME_HEAD_BYTES;
const FIRST_BYTES = 64 * 1024;
/** A group beyond this size is full; the next group waits for its turn. */
const FULL_BYTES = 1024 * 1024;
/** A buffer that grew beyond this is not used again. */
const KEPT_BYTES = 2 * FULL_BYTES;

interface Waiting {
  readonly entry: NewEntry;
  readonly position: number;
  /** Offset in the frame. */
  readonly offset: number;
  readonly length: number;
  readonly resolve: (entry: PendingEntry) => void;
  readonly reject: (error: Error) => void;
}

/** Records that wait for one flush, encoded when they are added. */
export class Group {
  /** Marks in the group; if its flush fails, the writer keeps them for the next group. */
  readonly marks = new Map<string, SettledMark>();
  #buffer: Buffer;
  #end = CONTENT_AT;
  readonly #waiting: Waiting[] = [];
  /** Records of the keys of its entries and notes. */
  readonly keys: Buffer[] = [];
  /** Positions of its entries; null if it has none. */
  firstPosition: number | null = null;
  lastPosition: number | null = null;

  constructor(spare: Buffer | null) {
    this.#buffer = spare ?? Buffer.allocUnsafeSlow(FIRST_BYTES);
  }

  get isFull(): boolean {
    return this.#end >= FULL_BYTES;
  }

  get count(): number {
    return this.#waiting.length;
  }

  get frameLength(): number {
    return frameBytes(this.#end - CONTENT_AT);
  }

  /** Buffer for the next group, after this group is resolved. */
  get spare(): Buffer | null {
    return this.#buffer.length > KEPT_BYTES ? null : this.#buffer;
  }

  add(entry: NewEntry, position: number, resolve: Waiting['resolve'], reject: Waiting['reject']): void {
    const { key, kid, namespace, pending } = entry;
    const offset = this.#end;
    const length = this.#write({ ...entry, kind: KIND.entry, position });
    this.#waiting.push({ entry, position, offset: offset - FRAME_AT, length, resolve, reject });
    this.firstPosition ??= position;
    this.lastPosition = position;
    if (key !== null) this.keys.push(keyRecord({ ...key, kid, namespace }, { position, pending, answer: null }));
  }

  addNote(slot: KeySlot, answer: string): void {
    const { namespace, kid } = slot;
    this.#write({ ...NOTHING, kind: KIND.note, namespace, kid, key: slot, payload: answer });
    this.keys.push(keyRecord(slot, { position: 0, pending: 0, answer }));
  }

  addMarks(marks: ReadonlyMap<string, SettledMark>): void {
    for (const [namespace, mark] of marks) {
      this.#write({ ...NOTHING, kind: KIND.mark, namespace, ...mark });
      this.marks.set(namespace, mark);
    }
  }

  /** The bytes to write: the frame, behind the header if it is the first of a segment. Add nothing after this. */
  seal(segment: number, group: number, before: number, header: SegmentHeader | null): Buffer {
    const frame = this.#buffer.subarray(FRAME_AT, FRAME_AT + this.frameLength);
    writeFrame(frame, {
      segment,
      group,
      length: frame.length,
      contentBytes: this.#end - CONTENT_AT,
      count: this.#waiting.length,
      firstPosition: this.firstPosition ?? before + 1,
      lastPosition: this.lastPosition ?? before,
    });
    if (header === null) return frame;
    writeHeader(this.#buffer, header);
    return this.#buffer.subarray(0, FRAME_AT + frame.length);
  }

  /** The group is durable, its frame at `frameAt` of the segment. */
  resolve(segment: number, frameAt: number): void {
    for (const { entry, position, offset, length, resolve } of this.#waiting) {
      const { namespace, token, time, retryOf } = entry;
      const bytes = payloadBytesAt(this.#buffer, FRAME_AT + offset);
      resolve({ position, namespace, token, time, bytes, retryOf, segment, offset: frameAt + offset, length });
    }
  }

  reject(error: Error): void {
    for (const { reject } of this.#waiting) reject(error);
  }

  /** Returns the length of the record. Makes room for the padding and the end of the frame too. */
  #write(record: JournalRecord): number {
    const needed = this.#end + roomOf(record) + 2 * BLOCK_BYTES;
    if (needed > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
      this.#buffer.copy(larger, 0, 0, this.#end);
      this.#buffer = larger;
    }
    const length = writeRecord(this.#buffer, this.#end, record);
    this.#end += length;
    return length;
  }
}
