import { createHash } from 'node:crypto';
import { ObjectId } from 'mongodb';

/**
 * Places in a journal as ids of 12 bytes, in their order: 4 bytes of the journal's id, 5 of the position, 3 of the row
 * in an insert, counted through the operations of a batch. They are the marks of documents, and the `_id` of documents
 * that an entry inserts. They never contain the token of the queue: documents of a collection that was restored from a
 * dump must not look newer than they are.
 */
const JOURNAL_BYTES = 4;
const POSITION_BYTES = 5;
const ROW_BYTES = 3;
const MAX_POSITION = 2 ** (8 * POSITION_BYTES) - 1;
const MAX_ROW = 2 ** (8 * ROW_BYTES) - 1;

export class JournalMarks {
  readonly #journal: Buffer;
  /** Field of documents that holds the last mark of this journal. */
  readonly field: string;
  /** Greater than the mark of every position. */
  readonly last: ObjectId;

  constructor(journal: string) {
    this.#journal = createHash('sha256').update(journal).digest().subarray(0, JOURNAL_BYTES);
    this.field = `_q_${this.#journal.toString('hex')}`;
    this.last = this.#mark(MAX_POSITION, MAX_ROW);
  }

  /** @param rowsBefore rows of the operations before it in its batch */
  at(position: number, rowsBefore = 0): ObjectId {
    return this.#mark(position, rowsBefore);
  }

  #mark(position: number, row: number): ObjectId {
    const bytes = Buffer.alloc(JOURNAL_BYTES + POSITION_BYTES + ROW_BYTES);
    this.#journal.copy(bytes);
    bytes.writeUIntBE(position, JOURNAL_BYTES, POSITION_BYTES);
    bytes.writeUIntBE(row, JOURNAL_BYTES + POSITION_BYTES, ROW_BYTES);
    return new ObjectId(bytes);
  }
}

/** `_id` of a row that the entry with the mark inserts; the same in every attempt. */
export function queuedRowId(mark: ObjectId, row: number): ObjectId {
  const bytes = Buffer.from(mark.id);
  const first = bytes.readUIntBE(JOURNAL_BYTES + POSITION_BYTES, ROW_BYTES);
  bytes.writeUIntBE(first + row, JOURNAL_BYTES + POSITION_BYTES, ROW_BYTES);
  return new ObjectId(bytes);
}

export function positionOf(mark: ObjectId): number {
  return Buffer.from(mark.id).readUIntBE(JOURNAL_BYTES, POSITION_BYTES);
}
