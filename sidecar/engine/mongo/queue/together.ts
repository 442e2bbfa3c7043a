import type { AnyBulkWriteOperation, Document, ObjectId } from 'mongodb';
import type { QueuedEntry } from '#engine/queues.ts';
import type { Row } from '#engine/rows.ts';
import { collectionOf, fieldOf, fromBson, valueIn } from '../documents.ts';
import { allOf, columnNamed } from '../read.ts';
import type { QueuedOperation, WriteCall } from '../write/call.ts';
import { documentsThere, insertAll, newDocuments, plannedRows } from '../write/insert.ts';
import { type KeyedChange, keyText } from './changes.ts';

/** Last write of a queue that was applied to a row, by the keys of existing rows. */
type Marks = ReadonlyMap<string, ObjectId | null>;

/**
 * Makes changes of rows by the same key in one statement. Of several changes of one row each requires the mark of the
 * one before it: if one does nothing the later ones do nothing either, and the row shows how far it came.
 * Resolves with the changes that are left, in their order: those that are refused, wait for another change, or insert
 * and cannot do so with others. They are done one by one.
 * @throws ApiError if a change is refused and the server does not say which; any of them may be done then
 */
export async function changeTogether(call: WriteCall, changes: readonly KeyedChange[]): Promise<KeyedChange[]> {
  const statements = statementsOf(changes);
  const { matchedCount } = await call.session.send((db, time) =>
    db.collection(collectionOf(call.target)).bulkWrite(statements, { ordered: true, ...time }),
  );
  // Long counts come back as objects.
  if (Number(matchedCount) === changes.length) return [];
  const marks = await marksOf(call, changes);
  const left = leftOf(changes, marks);
  const isInserted = await insertHeads(call, left, marks);
  return left.filter((change) => !isInserted.has(change));
}

function statementsOf(changes: readonly KeyedChange[]): AnyBulkWriteOperation[] {
  const before = new Map<string, ObjectId>();
  return changes.map(({ key, selection, update, operation }) => {
    const last = before.get(key);
    before.set(key, operation.id);
    const filter = last === undefined ? selection : allOf([selection, { [operation.field]: last }]);
    return { updateOne: { filter, update } };
  });
}

/** Keys in one query: a list of alternatives makes some servers slow. */
const KEYS_AT_ONCE = 200;

async function marksOf({ session, target }: WriteCall, changes: readonly KeyedChange[]): Promise<Marks> {
  const columns = changes[0]?.columns ?? [];
  const { field: mark = '' } = changes[0]?.operation ?? {};
  const fields = [...columns.map(fieldOf), mark];
  const projection = Object.fromEntries([['_id', 0], ...fields.map((field) => [field, 1])]);
  const wanted = [...new Map(changes.map(({ key, match }) => [key, match])).values()];
  const marks = new Map<string, ObjectId | null>();
  for (let from = 0; from < wanted.length; from += KEYS_AT_ONCE) {
    const selection = { $or: wanted.slice(from, from + KEYS_AT_ONCE) };
    const found = await session.look((db, time) =>
      db
        .collection(collectionOf(target))
        .find(selection, { projection, ...time })
        .toArray(),
    );
    for (const document of found) {
      const values: Row = new Map(
        columns.map((name) => [name, fromBson(columnNamed(target.table, name), valueIn(document, fieldOf(name)))]),
      );
      marks.set(keyText(columns, values), (document as Document)[mark] ?? null);
    }
  }
  return marks;
}

/**
 * Changes that are neither done nor certainly without effect. After a change that did nothing later changes of the same
 * row were not tried. If the row does not exist, the changes before the first that inserts it have nothing to do.
 */
function leftOf(changes: readonly KeyedChange[], marks: Marks): KeyedChange[] {
  const isOpen = new Set<string>();
  return changes.filter(({ key, operation, row, isGuarded }) => {
    const mark = marks.get(key);
    if (mark !== undefined && isAtLeast(mark, operation)) return false;
    const isTried = !isOpen.has(key);
    const didNothing = isTried && row === null && (mark === undefined || !isGuarded);
    if (mark !== undefined || !didNothing) isOpen.add(key);
    return !didNothing;
  });
}

function isAtLeast(mark: ObjectId | null, { id, last }: KeyedChange['operation']): boolean {
  if (mark === null) return false;
  const text = mark.toHexString();
  return text >= id.toHexString() && text <= last.toHexString();
}

/**
 * Inserts missing rows in one statement: those whose first change inserts them, as long as no other change inserts. In
 * order, because two of them may want the same value of another unique column.
 */
async function insertHeads(
  call: WriteCall,
  left: readonly KeyedChange[],
  marks: Marks,
): Promise<ReadonlySet<KeyedChange>> {
  const heads: KeyedChange[] = [];
  const seen = new Set<string>();
  for (const change of left) {
    const isFirst = !seen.has(change.key);
    seen.add(change.key);
    if (change.row === null || marks.has(change.key)) continue;
    if (!isFirst) break;
    heads.push(change);
  }
  const planned = heads.flatMap(({ operation, row }) => plannedRows(operation, row === null ? [] : [row]));
  const documents = await newDocuments(call, planned);
  const stop = await insertAll(call, documents);
  return new Set(heads.slice(0, stop?.inserted ?? documents.length));
}

/** An entry that inserts. */
export interface Insertion {
  readonly entry: QueuedEntry;
  readonly operation: QueuedOperation;
}

/**
 * Inserts the rows of neighbouring entries in one statement, in order, each with an `_id` made of its place in the
 * journal. Resolves with the number of finished entries: fewer if a row of the next one is refused. Rows of that entry
 * may be inserted.
 * @throws ApiError if the refused entry is not known
 */
export async function insertTogether(call: WriteCall, insertions: readonly Insertion[]): Promise<number> {
  const planned = insertions.flatMap(({ entry, operation }, place) =>
    plannedRows(operation, rowsOf(entry)).map((row) => ({ ...row, place })),
  );
  const isResumed = insertions.some(({ operation }) => operation.isResumed);
  const there = isResumed ? await documentsThere(call, planned) : null;
  const missing = there === null ? planned : planned.filter(({ _id }) => !there.has(_id.toHexString()));
  const documents = await newDocuments(call, missing);
  const stop = await insertAll(call, documents);
  return missing[stop?.inserted ?? documents.length]?.place ?? insertions.length;
}

function rowsOf({ work }: QueuedEntry) {
  if (!('write' in work) || work.write.op !== 'insert') throw new Error('only inserts go together');
  return work.write.rows;
}
