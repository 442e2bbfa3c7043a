import { filteredFields } from './model-filter.ts';
import {
  type Cells,
  type ModelFilter,
  type ModelTable,
  type Program,
  type Step,
  type StepOf,
  tablesOf,
  type WriteStep,
} from './types.ts';

/** Smaller programs, the smallest first: fewer steps, then fewer tables and columns, then less in each step. */
export function* shrunkPrograms(program: Program): IterableIterator<Program> {
  yield* withFewerSteps(program);
  for (const table of program.tables) yield* withoutTable(program, table);
  for (const table of program.tables) yield* withSimplerTable(program, table);
  for (const [i, step] of program.steps.entries()) {
    for (const simpler of simplerSteps(step)) yield { ...program, steps: program.steps.with(i, simpler) };
  }
}

function* withFewerSteps(program: Program): IterableIterator<Program> {
  const { steps } = program;
  for (let size = Math.ceil(steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let end = steps.length; end > 0; end -= size) {
      yield { ...program, steps: steps.filter((_, i) => i < end - size || i >= end) };
    }
  }
}

function* withoutTable(program: Program, table: ModelTable): IterableIterator<Program> {
  if (program.tables.length === 1 || program.steps.some((step) => tablesOf(step).includes(table.name))) return;
  yield { ...program, tables: program.tables.filter((other) => other !== table) };
}

function* withSimplerTable(program: Program, table: ModelTable): IterableIterator<Program> {
  const changed = (next: ModelTable) => ({
    ...program,
    tables: program.tables.map((other) => (other === table ? next : other)),
  });
  for (const index of table.indexes)
    yield changed({ ...table, indexes: table.indexes.filter((each) => each !== index) });
  for (const column of table.columns) {
    if (table.columns.length > 1) yield withoutColumn(changed(dropColumn(table, column.name)), table.name, column.name);
    const next = [
      ...(column.unique ? [{ ...column, unique: false }] : []),
      ...(column.default !== null ? [{ ...column, default: null }] : []),
    ];
    for (const simpler of next) {
      yield changed({ ...table, columns: table.columns.map((each) => (each === column ? simpler : each)) });
    }
  }
}

function dropColumn(table: ModelTable, name: string): ModelTable {
  return {
    ...table,
    columns: table.columns.filter((column) => column.name !== name),
    primaryKey: table.primaryKey.filter((key) => key !== name),
    indexes: table.indexes
      .map((index) => ({ ...index, columns: index.columns.filter((each) => each !== name) }))
      .filter((index) => index.columns.length > 0),
  };
}

/** Steps that cannot do without the column go with it. */
function withoutColumn(program: Program, table: string, name: string): Program {
  return { ...program, steps: program.steps.flatMap((step) => stepWithout(step, table, name)) };
}

function stepWithout(step: Step, table: string, name: string): Step[] {
  if (step.op === 'batch') return batchWithout(step, table, name);
  if (step.table !== table) return [step];
  if ('filter' in step && filteredFields(step.filter).includes(name)) return [];
  switch (step.op) {
    case 'insert':
      return [{ ...step, rows: step.rows.map((row) => without(row, name)) }];
    case 'update':
      return [{ ...step, set: without(step.set, name), inc: without(step.inc, name) }];
    case 'upsert': {
      const keys = step.keys.filter((key) => key !== name);
      const update = step.update?.filter((each) => each !== name) ?? null;
      const rest = { row: without(step.row, name), inc: without(step.inc, name) };
      return keys.length === 0 ? [] : [{ ...step, ...rest, keys, update }];
    }
    case 'find':
      return [
        {
          ...step,
          sort: step.sort.filter(({ field }) => field !== name),
          fields: step.fields?.filter((field) => field !== name) ?? null,
        },
      ];
    case 'aggregate':
      return [
        {
          ...step,
          groupBy: step.groupBy.filter((each) => each !== name),
          values: step.values.filter(({ field }) => field !== name),
          sort: step.sort.filter(({ field }) => field !== name),
        },
      ];
    default:
      return [step];
  }
}

/** References count operations: one that goes takes the batch with it. */
function batchWithout(step: StepOf<'batch'>, table: string, name: string): Step[] {
  const operations = step.operations.flatMap(({ write, expected }) =>
    stepWithout(write, table, name).map((each) => ({ write: each as WriteStep, expected })),
  );
  return operations.length < step.operations.length ? [] : [{ ...step, operations }];
}

function without(cells: Cells, name: string): Cells {
  return Object.fromEntries(Object.entries(cells).filter(([each]) => each !== name));
}

function* simplerSteps(step: Step): IterableIterator<Step> {
  if ('key' in step && step.key !== null) yield { ...step, key: null };
  if ('filter' in step && step.filter !== null) {
    yield { ...step, filter: null };
    for (const filter of simplerFilters(step.filter)) yield { ...step, filter };
  }
  switch (step.op) {
    case 'insert':
      yield* simplerInserts(step);
      break;
    case 'update':
      for (const set of fewerCells(step.set)) yield { ...step, set };
      for (const inc of fewerCells(step.inc)) yield { ...step, inc };
      break;
    case 'upsert':
      for (const row of fewerCells(step.row)) yield { ...step, row };
      for (const inc of fewerCells(step.inc)) yield { ...step, inc };
      if (step.update !== null) yield { ...step, update: null };
      for (const name of step.update ?? [])
        yield { ...step, update: step.update?.filter((each) => each !== name) ?? null };
      break;
    case 'find':
      if (step.fields !== null) yield { ...step, fields: null };
      for (const key of step.sort) yield { ...step, sort: step.sort.filter((each) => each !== key) };
      if (step.limit !== null) yield { ...step, limit: null };
      if (step.offset !== 0) yield { ...step, offset: 0 };
      break;
    case 'aggregate':
      for (const value of step.values) yield { ...step, values: step.values.filter((each) => each !== value) };
      for (const name of step.groupBy) yield { ...step, groupBy: step.groupBy.filter((each) => each !== name) };
      for (const key of step.sort) yield { ...step, sort: step.sort.filter((each) => each !== key) };
      if (step.limit !== null) yield { ...step, limit: null };
      if (step.offset !== 0) yield { ...step, offset: 0 };
      break;
    case 'batch':
      yield* simplerBatches(step);
      break;
    case 'delete':
    case 'count':
      break;
    default:
      step satisfies never;
  }
}

function* simplerBatches(step: StepOf<'batch'>): IterableIterator<Step> {
  const { operations } = step;
  if (operations.length > 1) {
    for (const each of operations.toReversed()) yield { ...step, operations: operations.filter((one) => one !== each) };
  }
  for (const [i, { write, expected }] of operations.entries()) {
    if (expected !== null) yield { ...step, operations: operations.with(i, { write, expected: null }) };
    for (const simpler of simplerSteps(write)) {
      yield { ...step, operations: operations.with(i, { write: simpler as WriteStep, expected }) };
    }
  }
}

function* simplerInserts(step: Extract<Step, { op: 'insert' }>): IterableIterator<Step> {
  const { rows } = step;
  if (rows.length > 3) yield { ...step, rows: rows.slice(0, Math.ceil(rows.length / 2)) };
  if (rows.length > 3) yield { ...step, rows: rows.slice(Math.floor(rows.length / 2)) };
  if (rows.length > 1) for (const row of rows) yield { ...step, rows: rows.filter((each) => each !== row) };
  for (const [i, row] of rows.entries()) {
    for (const fewer of fewerCells(row)) yield { ...step, rows: rows.with(i, fewer) };
  }
}

function* fewerCells(cells: Cells): IterableIterator<Cells> {
  for (const name of Object.keys(cells)) yield without(cells, name);
}

function* simplerFilters(filter: ModelFilter): IterableIterator<ModelFilter> {
  if (filter.kind === 'not') {
    yield filter.member;
    for (const member of simplerFilters(filter.member)) yield { kind: 'not', member };
  } else if (filter.kind === 'condition') {
    if (filter.operands.length < 2) return;
    for (const operand of filter.operands) {
      yield { ...filter, operands: filter.operands.filter((each) => each !== operand) };
    }
  } else {
    yield* filter.members;
    for (const [i, member] of filter.members.entries()) {
      if (filter.members.length > 1) yield { ...filter, members: filter.members.filter((each) => each !== member) };
      for (const simpler of simplerFilters(member)) yield { ...filter, members: filter.members.with(i, simpler) };
    }
  }
}
