import { idColumn, referenceText, takesIdsOf } from './model-reference.ts';
import type { RandomSource } from './random-source.ts';
import {
  type BatchMember,
  columnOf,
  type ModelReference,
  type ModelTable,
  type Step,
  type WriteStep,
} from './types.ts';

/** Percentage of requests that must be refused. */
const WRONG = 3;
const TOO_MANY_ROWS = 61;

interface Parts {
  readonly tables: readonly ModelTable[];
  readonly key: string | null;
  write(table: ModelTable): WriteStep;
}

export function batchOf(random: RandomSource, { tables, key, write }: Parts): Step {
  const atomic = random.chance(50);
  const operations: BatchMember[] = [];
  const length = random.int(1, random.chance(10) ? 20 : 5);
  while (operations.length < length) {
    const plain = { ...write(random.pick(tables)), key: null };
    const referring = random.chance(atomic ? 40 : WRONG) ? withReference(random, plain, operations, tables) : plain;
    const isGuarded = random.chance(atomic ? 20 : WRONG / 2);
    operations.push({ write: referring, expected: isGuarded ? expectedOf(random, referring) : null });
  }
  return { op: 'batch', operations: random.chance(WRONG) ? withManyRows(operations) : operations, atomic, key };
}

function expectedOf(random: RandomSource, write: WriteStep): number {
  if (write.op === 'insert' && random.chance(90)) return write.rows.length;
  return write.op === 'upsert' && random.chance(80) ? 1 : random.pick([0, 0, 1, 1, 2]);
}

/** The last rows are one too many for all inserts together. */
function withManyRows(operations: readonly BatchMember[]): readonly BatchMember[] {
  return operations.map(({ write, expected }) => {
    const row = write.op === 'insert' ? write.rows[0] : undefined;
    if (write.op !== 'insert' || row === undefined) return { write, expected };
    return { write: { ...write, rows: Array.from({ length: TOO_MANY_ROWS }, () => row) }, expected };
  });
}

/** Replaces one value by a reference to the id of an earlier insert, if a column takes it. */
function withReference(
  random: RandomSource,
  write: WriteStep,
  earlier: readonly BatchMember[],
  tables: readonly ModelTable[],
): WriteStep {
  const tableOf = (name: string) => tables.find((table) => table.name === name) as ModelTable;
  const targets = tableOf(write.table).columns;
  const places = earlier.flatMap(({ write: insert }, operation) => {
    const source = insert.op === 'insert' ? idColumn(tableOf(insert.table)) : null;
    const fitting = source === null ? [] : targets.filter((target) => takesIdsOf(source, target));
    const count = insert.op === 'insert' ? insert.rows.length : 0;
    return fitting.map((target) => ({ operation, count, target: target.name }));
  });
  if (places.length === 0) return write;
  const { operation, count, target } = random.pick(places);
  const good = { operation, row: random.int(0, Math.max(0, count - 1)) };
  const wrong = [
    { operation: earlier.length, row: 0 },
    { operation, row: count },
  ];
  return referring(random, write, tableOf(write.table), target, random.chance(WRONG) ? random.pick(wrong) : good);
}

function referring(
  random: RandomSource,
  write: WriteStep,
  table: ModelTable,
  name: string,
  result: ModelReference,
): WriteStep {
  // Anything but NULL will do until the id is known.
  const cell = { text: referenceText(result), value: '', result };
  const isKey = table.primaryKey.includes(name);
  if (write.op === 'insert') {
    const at = random.int(0, write.rows.length - 1);
    return { ...write, rows: write.rows.with(at, { ...write.rows[at], [name]: cell }) };
  }
  if (write.op === 'upsert') return { ...write, row: { ...write.row, [name]: cell } };
  if (write.op === 'update' && !isKey && random.chance(50)) {
    const { [name]: _, ...inc } = write.inc;
    return { ...write, set: { ...write.set, [name]: cell }, inc };
  }
  const isText = ['string', 'text'].includes(columnOf(table, name)?.type ?? '');
  const op = random.pick(isText ? ['eq', 'lt', 'startsWith', 'in'] : ['eq', 'ne', 'lt', 'gte', 'in']);
  return { ...write, filter: { kind: 'condition', field: name, op, operands: [cell] } };
}
