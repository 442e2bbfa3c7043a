import { type Done, type Expectation, type Refusal, refused } from './expectation.ts';
import { groupsOf } from './model-aggregate.ts';
import { type BatchGround, mayHaveUsedIds, runBatch, type WriteResult } from './model-batch.ts';
import type { ModelRow } from './model-filter.ts';
import { TableState } from './model-table.ts';
import { addTo } from './model-values.ts';
import { OVERFLOW } from './nasty-values.ts';
import { requestOf } from './requests.ts';
import {
  type Cells,
  columnOf,
  type ModelCapabilities,
  type ModelColumn,
  type ModelTable,
  type Step,
  type StepOf,
  uniqueSetsOf,
  type WriteStep,
} from './types.ts';
import { faultsOf } from './validate.ts';

const MAX_ROWS = 1000;

/** A namespace in plain TypeScript. */
export class Model {
  readonly #tables: ReadonlyMap<string, TableState>;
  readonly #can: ModelCapabilities;
  /** Requests with an idempotency key that were done, and what was expected of them. */
  readonly #remembered = new Map<string, { readonly request: string; readonly expectation: Expectation }>();

  constructor(tables: readonly ModelTable[], can: ModelCapabilities) {
    this.#tables = new Map(tables.map((table) => [table.name, new TableState(table)]));
    this.#can = can;
  }

  stateOf(table: string): TableState {
    return this.#tables.get(table) as TableState;
  }

  /** Does the step. */
  expect(step: Step): Expectation {
    const key = 'key' in step ? step.key : null;
    if (key === null) return this.#execute(step);
    const { operation, payload } = requestOf(step);
    const request = `${operation} ${payload}`;
    const remembered = this.#remembered.get(key);
    // A payload with such a number is refused as it is read, before anything else (contract section 3).
    const isUnreadable = payload.includes(OVERFLOW);
    if (remembered !== undefined && !isUnreadable) {
      this.#mayHaveUsedIds(step);
      if (remembered.request === request) return remembered.expectation;
      const conflict = refused(['idempotency_conflict']).refusals;
      return { refusals: [...conflict, ...(step.op === 'batch' ? refusalsAtOnce(step, this.#can) : [])] };
    }
    const { expectation, isKept } = this.#executeKeyed(step);
    const first = rememberable(expectation);
    if (isKept) this.#remembered.set(key, { request, expectation: first });
    return first;
  }

  #executeKeyed(step: Step): { expectation: Expectation; isKept: boolean } {
    if (step.op === 'batch') return runBatch(step, this.#ground);
    const rowsBefore = this.stateOf(step.table).rows.length;
    const expectation = this.#execute(step);
    // Failures are not remembered, but for an insert whose rows stay (contract section 5).
    const hasLeftRows = step.op === 'insert' && this.stateOf(step.table).rows.length > rowsBefore;
    return { expectation, isKept: 'text' in expectation || hasLeftRows };
  }

  #mayHaveUsedIds(step: Step): void {
    if (step.op === 'insert') this.stateOf(step.table).mayHaveUsedIds(step.rows);
    if (step.op === 'upsert') this.stateOf(step.table).mayHaveUsedIds([step.row]);
    if (step.op === 'batch') mayHaveUsedIds(step, this.#ground);
  }

  get #ground(): BatchGround {
    const write = (step: WriteStep) => this.#write(this.stateOf(step.table), step);
    return { can: this.#can, stateOf: (table) => this.stateOf(table), write };
  }

  #execute(step: Step): Expectation {
    if (step.op === 'batch') return runBatch(step, this.#ground).expectation;
    const state = this.stateOf(step.table);
    const faults = faultsOf(state.table, step, this.#can);
    if (faults.length > 0) return refused(faults);
    switch (step.op) {
      case 'insert':
      case 'update':
      case 'upsert':
      case 'delete':
        return this.#write(state, step);
      case 'find':
        return find(state, step);
      case 'count': {
        const { length } = state.matching(step.filter);
        return { text: () => `{"count":${length}}`, count: length };
      }
      case 'aggregate':
        return aggregate(state, step);
      default:
        return step satisfies never;
    }
  }

  #write(state: TableState, step: WriteStep): WriteResult {
    switch (step.op) {
      case 'insert':
        return this.#insert(state, step);
      case 'update':
        return update(state, step);
      case 'upsert':
        return this.#upsert(state, step);
      case 'delete':
        return remove(state, step);
      default:
        return step satisfies never;
    }
  }

  #insert(state: TableState, step: StepOf<'insert'>): WriteResult {
    const { isWhole, added } = state.insert(step.rows, !this.#can.transactions);
    if (!isWhole) return refused(['constraint_violation']);
    const text = () => `{"inserted":${added.length},"ids":${state.idsText(added)}}`;
    return { text, count: added.length, added };
  }

  #upsert(state: TableState, step: StepOf<'upsert'>): WriteResult {
    const { row, keys, inc } = step;
    const values = Object.fromEntries(keys.map((name) => [name, row[name]?.value ?? null]));
    const existing = state.find(values);
    if (existing === undefined) {
      const begun = begunRow(state.table, step);
      if (begun === null) return refused(['invalid_value']);
      const { isWhole } = state.insert([begun], false);
      return isWhole ? affected(1) : refused(['constraint_violation']);
    }
    const isFree = (name: string) => !keys.includes(name) && !state.table.primaryKey.includes(name) && !(name in inc);
    const taken = step.update ?? Object.keys(row).filter(isFree);
    if (step.update !== null && taken.length + Object.keys(inc).length === 0) return affected(0);
    const changed: ModelRow = { ...existing };
    for (const name of taken) changed[name] = row[name]?.value ?? null;
    const isInRange = addAll(state.table, changed, inc);
    return replace(state, new Map([[existing, changed]]), new Set(isInRange ? [] : ['invalid_value']));
  }
}

/** Refusals of a batch before its key is looked up: by the engine's capabilities or by its form. */
function refusalsAtOnce({ atomic, operations }: StepOf<'batch'>, can: ModelCapabilities): readonly Refusal[] {
  if (atomic) return can.transactions ? [] : [{ code: 'unsupported_operation', index: null }];
  return operations.flatMap(({ expected }, index) => (expected === null ? [] : [{ code: 'invalid_request', index }]));
}

/** Texts are made once, when the ids are known, and stay. */
function rememberable(expectation: Expectation): Expectation {
  if ('refusals' in expectation) return expectation;
  if ('results' in expectation)
    return { results: expectation.results.map((each) => ('text' in each ? once(each) : each)) };
  return once(expectation);
}

function once(done: Done): Done {
  let text: string | null = null;
  return {
    ...done,
    text: () => {
      text ??= done.text();
      return text;
    },
  };
}

/** A row that an upsert inserts, with its increments; null if a sum is out of range. */
function begunRow(table: ModelTable, { row, inc }: StepOf<'upsert'>): Cells | null {
  const sums: ModelRow = {};
  for (const name of Object.keys(inc)) sums[name] = (row[name] ?? columnOf(table, name)?.default)?.value ?? null;
  if (!addAll(table, sums, inc)) return null;
  const added = Object.entries(sums).map(([name, value]) => [name, { text: '', value }]);
  return { ...row, ...Object.fromEntries(added) };
}

/** False where a sum is out of range. */
function addAll(table: ModelTable, row: ModelRow, inc: Cells): boolean {
  return Object.entries(inc).every(([name, { value }]) => {
    const sum = addTo(columnOf(table, name) as ModelColumn, row[name] ?? null, value);
    if (sum !== null) row[name] = sum;
    return sum !== null;
  });
}

const affected = (count: number): WriteResult => ({ text: () => `{"affected":${count}}`, count });

function update(state: TableState, step: StepOf<'update'>): WriteResult {
  const matched = state.matching(step.filter);
  const codes = new Set<string>();
  const uniqueNames = new Set(uniqueSetsOf(state.table).flat());
  const addsToUnique = Object.keys(step.inc).some((name) => uniqueNames.has(name));
  if (addsToUnique && matched.length > 1) codes.add('constraint_violation');
  const changes = new Map<ModelRow, ModelRow>();
  for (const row of matched) {
    const changed: ModelRow = { ...row };
    for (const [name, { value }] of Object.entries(step.set)) changed[name] = value;
    if (!addAll(state.table, changed, step.inc)) codes.add('invalid_value');
    changes.set(row, changed);
  }
  return replace(state, changes, codes);
}

/** All of the changes or, where there are codes or two rows of one key, none. */
function replace(state: TableState, changes: ReadonlyMap<ModelRow, ModelRow>, codes: Set<string>): WriteResult {
  state.checkKnown([...changes.keys()]);
  const rows = state.rows.map((row) => changes.get(row) ?? row);
  if ([...changes.values()].some((changed) => state.collides(changed, rows))) codes.add('constraint_violation');
  if (codes.size > 0) return refused(codes);
  state.rows = rows;
  return affected(changes.size);
}

function remove(state: TableState, step: StepOf<'delete'>): WriteResult {
  const gone = new Set(state.matching(step.filter));
  state.checkKnown([...gone]);
  state.rows = state.rows.filter((row) => !gone.has(row));
  return affected(gone.size);
}

function find(state: TableState, step: StepOf<'find'>): Expectation {
  const rows = state.sorted(state.matching(step.filter), step.sort).slice(step.offset);
  const limit = step.limit ?? MAX_ROWS;
  const texts = rows.slice(0, limit).map((row) => state.rowText(row, step.fields));
  return { text: () => `{"rows":[${texts}],"hasMore":${rows.length > limit}}`, count: texts.length };
}

function aggregate(state: TableState, step: StepOf<'aggregate'>): Expectation {
  const groups = groupsOf(state.table, step, state.matching(step.filter)).slice(step.offset);
  const limit = step.limit ?? MAX_ROWS;
  const text = () => `{"rows":[${groups.slice(0, limit)}],"hasMore":${groups.length > limit}}`;
  return { text, count: groups.length };
}
