import { type Done, type Expectation, type Refusal, refused } from './expectation.ts';
import { Undecided } from './generator-state.ts';
import { filteredFields, type ModelRow } from './model-filter.ts';
import {
  idColumn,
  idOf,
  isGoodReference,
  isSuited,
  type KnownId,
  type ReferencePlace,
  referencesIn,
  withIds,
} from './model-reference.ts';
import type { TableState } from './model-table.ts';
import { OVERFLOW } from './nasty-values.ts';
import { requestOf } from './requests.ts';
import {
  type BatchMember,
  type Cells,
  type ModelCapabilities,
  type ModelReference,
  type StepOf,
  tablesOf,
  type WriteStep,
} from './types.ts';
import { faultsOf } from './validate.ts';

/** The limit that sidecars have on which programs run (`limits.maxInsertRows`). */
export const MODEL_MAX_INSERT_ROWS = 60;

export type WriteResult =
  | Extract<Expectation, { refusals: unknown }>
  | (Done & { readonly added?: readonly ModelRow[] });

/** State that a batch changes. */
export interface BatchGround {
  readonly can: ModelCapabilities;
  stateOf(table: string): TableState;
  /** Does an operation that has no fault of its own. */
  write(write: WriteStep): WriteResult;
}

/** Does a batch by what its operations do alone (contract section 11). `isKept`: a key remembers the answer. */
export function runBatch(step: StepOf<'batch'>, ground: BatchGround): { expectation: Expectation; isKept: boolean } {
  return new BatchRun(step, ground).run();
}

class BatchRun {
  readonly #step: StepOf<'batch'>;
  readonly #ground: BatchGround;
  readonly #states: readonly TableState[];
  #results: WriteResult[] = [];

  constructor(step: StepOf<'batch'>, ground: BatchGround) {
    this.#step = step;
    this.#ground = ground;
    this.#states = tablesOf(step).map((name) => ground.stateOf(name));
  }

  run(): { expectation: Expectation; isKept: boolean } {
    const { atomic, operations } = this.#step;
    const own = operations.map((_, index) => this.#ownFaults(index));
    const refusals = this.#refusals();
    const named = own.flatMap((codes, index) => codes.map((code) => ({ code, index })));
    if (refusals.length > 0 || (atomic && named.length > 0)) {
      return { expectation: { refusals: [...refusals, ...(atomic ? named : [])] }, isKept: false };
    }
    const takeBack = this.#snapshot();
    try {
      return atomic ? this.#runWhole(takeBack) : this.#runEach(own, takeBack);
    } catch (error) {
      takeBack();
      throw error;
    }
  }

  #snapshot(): () => void {
    const back = this.#states.map((state) => state.snapshot());
    return () => {
      for (const each of back) each();
    };
  }

  /** Refusals of the batch as a whole, atomic or not. */
  #refusals(): Refusal[] {
    const { operations, atomic } = this.#step;
    const refusals: Refusal[] = [];
    if (operations.length === 0) refusals.push({ code: 'invalid_request', index: null });
    if (atomic && !this.#ground.can.transactions) refusals.push({ code: 'unsupported_operation', index: null });
    let rows = 0;
    for (const [index, { write, expected }] of operations.entries()) {
      const sum = rows + (write.op === 'insert' ? write.rows.length : 0);
      if (sum > MODEL_MAX_INSERT_ROWS && rows <= MODEL_MAX_INSERT_ROWS) refusals.push({ code: 'too_many_rows', index });
      rows = sum;
      if (write.op === 'insert' && write.rows.length === 0) refusals.push({ code: 'invalid_request', index });
      if (requestOf(write).payload.includes(OVERFLOW)) refusals.push({ code: 'invalid_value', index });
      if (!atomic && expected !== null) refusals.push({ code: 'invalid_request', index });
    }
    return refusals;
  }

  /** Faults of an operation that are known before anything is done. */
  #ownFaults(index: number): readonly string[] {
    const { operations, atomic } = this.#step;
    const { write } = operations[index] as BatchMember;
    const tableOf = (name: string) => this.#ground.stateOf(name).table;
    const isWrong = (place: ReferencePlace) => {
      if (!atomic || !isGoodReference(place.result, index, operations, tableOf)) return true;
      const source = tableOf((operations[place.result.operation] as BatchMember).write.table);
      if (!isSuited(place, tableOf(write.table), source)) throw new Undecided('an id of another type is named');
      return false;
    };
    if (referencesIn(write).some(isWrong)) {
      return ['invalid_value', ...faultsOf(tableOf(write.table), write, this.#ground.can)];
    }
    const given = withIds(write, tableOf(write.table), (reference) => this.#givenIdAt(reference));
    return faultsOf(tableOf(write.table), given, this.#ground.can);
  }

  /** Id that the row brings along, known before anything is done; null if it brings none. */
  #givenIdAt({ operation, row }: ModelReference): KnownId | null {
    const { write } = this.#step.operations[operation] as BatchMember;
    const column = idColumn(this.#ground.stateOf(write.table).table);
    const cell = write.op === 'insert' && column !== null ? write.rows[row]?.[column.name] : undefined;
    if (column === null || cell === undefined || cell.value === null || cell.result !== undefined) return null;
    return { column, value: cell.value };
  }

  #runWhole(takeBack: () => void): { expectation: Expectation; isKept: boolean } {
    this.#results = [];
    for (const [index, { expected }] of this.#step.operations.entries()) {
      const result = this.#runOne(index);
      const codes = 'refusals' in result ? result.refusals.map(({ code }) => code) : [];
      if ('count' in result && expected !== null && result.count !== expected) codes.push('expectation_failed');
      if (codes.length > 0) {
        takeBack();
        this.useIds();
        return { expectation: { refusals: codes.map((code) => ({ code, index })) }, isKept: false };
      }
      this.#results.push(result);
    }
    return { expectation: { results: this.#results }, isKept: true };
  }

  /** Where one fails all may have been tried more than once, and have used ids. */
  #runEach(own: readonly (readonly string[])[], takeBack: () => void): { expectation: Expectation; isKept: boolean } {
    const attempt = () => {
      this.#results = own.map((codes, index) => (codes.length > 0 ? refused(codes) : this.#runOne(index)));
    };
    attempt();
    const isRefused = (result: WriteResult, index: number) => 'refusals' in result && own[index]?.length === 0;
    if (this.#results.some(isRefused)) {
      takeBack();
      this.useIds();
      attempt();
    }
    return { expectation: { results: this.#results }, isKept: own.some((codes) => codes.length === 0) };
  }

  /** An undone write may use up ids. */
  useIds(): void {
    for (const state of this.#states) {
      const cells = this.#step.operations.flatMap(({ write }) =>
        write.table === state.table.name ? rowsOf(write) : [],
      );
      if (cells.length > 0) state.mayHaveUsedIds(cells);
    }
  }

  #runOne(index: number): WriteResult {
    const { write } = this.#step.operations[index] as BatchMember;
    const state = this.#ground.stateOf(write.table);
    const known = withIds(write, state.table, (reference) => this.#idAt(reference));
    const faults = faultsOf(state.table, known, this.#ground.can);
    if (faults.length > 0) return refused(faults);
    if (state.hasUnknownIds && namesIn(known).includes(state.generatedName ?? '')) {
      throw new Undecided('an operation names ids of which one is not known yet');
    }
    return this.#ground.write(known);
  }

  #idAt({ operation, row }: ModelReference): KnownId {
    const result = this.#results[operation];
    const { write } = this.#step.operations[operation] as BatchMember;
    if (result === undefined || !('added' in result)) throw new Error('a reference leads to no insert');
    return idOf(this.#ground.stateOf(write.table).table, result.added?.[row] as ModelRow);
  }
}

/** A request that is answered from memory may have used ids up as well. */
export function mayHaveUsedIds(step: StepOf<'batch'>, ground: BatchGround): void {
  new BatchRun(step, ground).useIds();
}

function rowsOf(write: WriteStep): readonly Cells[] {
  if (write.op === 'insert') return write.rows;
  return write.op === 'upsert' ? [write.row] : [];
}

/** Columns by which the operation tells rows apart. */
function namesIn(write: WriteStep): string[] {
  if (write.op === 'upsert') return [...write.keys, ...Object.keys(write.row)];
  return write.op === 'insert' ? write.rows.flatMap((row) => Object.keys(row)) : filteredFields(write.filter);
}
