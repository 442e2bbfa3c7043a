import { GeneratorState, UNKNOWN_ID, Undecided } from './generator-state.ts';
import { type ModelRow, matches } from './model-filter.ts';
import { compareValues, rangeOf, renderValue } from './model-values.ts';
import {
  type Cells,
  columnOf,
  type ModelColumn,
  type ModelFilter,
  type ModelSort,
  type ModelTable,
  uniqueSetsOf,
} from './types.ts';

/** The rows of one table, in the order of insertion. */
export class TableState {
  readonly table: ModelTable;
  rows: ModelRow[] = [];
  readonly #uniqueSets: (readonly string[])[];
  readonly #generated: ModelColumn | undefined;
  #generator: GeneratorState | null;
  #isWhole = true;

  constructor(table: ModelTable) {
    this.table = table;
    this.#uniqueSets = uniqueSetsOf(table);
    this.#generated = table.columns.find((column) => column.autoIncrement);
    this.#generator = this.#generated === undefined ? null : new GeneratorState(rangeOf(this.#generated).max);
  }

  /** Takes the table back to where it is now. */
  snapshot(): () => void {
    const { rows } = this;
    const generator = this.#generator?.copy() ?? null;
    return () => {
      this.rows = rows;
      this.#generator = generator?.copy() ?? null;
    };
  }

  matching(filter: ModelFilter | null): ModelRow[] {
    return this.rows.filter((row) => filter === null || matches(this.table, filter, row) === true);
  }

  /** The primary key breaks ties, else the order of insertion. */
  sorted(rows: readonly ModelRow[], sort: readonly ModelSort[]): ModelRow[] {
    const keys = [...sort, ...this.table.primaryKey.map((field) => ({ field, dir: 'asc' as const }))];
    const types = keys.map(({ field }) => (columnOf(this.table, field) as ModelColumn).type);
    return rows.toSorted((a, b) => {
      for (const [i, { field, dir }] of keys.entries()) {
        const compared = compareValues(types[i] as ModelColumn['type'], a[field] ?? null, b[field] ?? null);
        if (compared !== 0) return dir === 'asc' ? compared : -compared;
      }
      return 0;
    });
  }

  rowText(row: ModelRow, fields: readonly string[] | null): string {
    const names = fields ?? this.table.columns.map((column) => column.name);
    return `{${names.map((name) => `"${name}":${this.#cellText(row, name)}`)}}`;
  }

  /** JSON text of the ids that an insert answers: none where the key is not one column. */
  idsText(rows: readonly ModelRow[]): string {
    const [name, second] = this.table.primaryKey;
    if (name === undefined || second !== undefined) return '[]';
    return `[${rows.map((row) => this.#cellText(row, name))}]`;
  }

  #cellText(row: ModelRow, name: string): string {
    return renderValue(columnOf(this.table, name) as ModelColumn, row[name] ?? null);
  }

  /** Whether another row has the same values in a unique set. NULL equals nothing, nor does an id yet unknown. */
  collides(row: ModelRow, rows: readonly ModelRow[] = this.rows): boolean {
    return this.#uniqueSets.some((set) => {
      if (set.some((name) => row[name] === null || row[name] === UNKNOWN_ID)) return false;
      return rows.some((other) => other !== row && set.every((name) => other[name] === row[name]));
    });
  }

  /** The row that has these values; none of them is NULL. */
  find(values: ModelRow): ModelRow | undefined {
    return this.rows.find((row) => Object.entries(values).every(([name, value]) => row[name] === value));
  }

  /** Adds rows in order up to the first that is refused; before that one they stay only if `keepsBefore`. */
  insert(cells: readonly Cells[], keepsBefore: boolean): { isWhole: boolean; added: readonly ModelRow[] } {
    const mark = this.#generator?.mark() ?? 0n;
    const before = this.rows;
    const added: ModelRow[] = [];
    this.#isWhole = true;
    for (const row of cells) {
      const complete = this.#complete(row, added, mark);
      // The rows before it may remain, or the ids were never there for any of them.
      if (complete === null && keepsBefore && added.length > 0)
        throw new Undecided('the generator ended in the middle');
      if (complete === null || this.collides(complete)) {
        this.#isWhole = false;
        break;
      }
      added.push(complete);
      this.rows = [...before, ...added];
    }
    if (!this.#isWhole) this.#fail(mark, cells, keepsBefore ? added : []);
    if (!this.#isWhole && !keepsBefore) this.rows = before;
    return { isWhole: this.#isWhole, added };
  }

  /** Null if the generator is at its end. */
  #complete(cells: Cells, added: readonly ModelRow[], mark: bigint): ModelRow | null {
    const row: ModelRow = {};
    for (const column of this.table.columns) {
      const cell = cells[column.name];
      if (!column.autoIncrement || this.#generator === null) {
        row[column.name] = (cell ?? column.default)?.value ?? null;
      } else if (cell === undefined) {
        const id = this.#generator.next();
        if (id === null) return null;
        row[column.name] = id;
      } else {
        const hasUnknown = added.some((other) => other[column.name] === UNKNOWN_ID);
        this.#generator.pass(cell.value as bigint, hasUnknown ? mark : null);
        row[column.name] = cell.value;
      }
    }
    return row;
  }

  /** A request that was taken back, or answered from memory, may have used ids up. */
  mayHaveUsedIds(cells: readonly Cells[]): void {
    this.#fail(this.#generator?.mark() ?? 0n, cells, []);
  }

  #fail(mark: bigint, cells: readonly Cells[], kept: readonly ModelRow[]): void {
    const name = this.#generated?.name;
    if (name === undefined) return;
    const explicit = cells.map((row) => (row[name]?.value as bigint | undefined) ?? null);
    const ids = kept.map((row) => row[name]).filter((id) => typeof id === 'bigint');
    this.#generator?.fail(mark, explicit, ids);
  }

  get hasUnknownIds(): boolean {
    return this.#areUnknown(this.rows);
  }

  /** Inside a batch nobody knows yet what was answered for them. */
  checkKnown(rows: readonly ModelRow[]): void {
    if (this.#areUnknown(rows)) throw new Undecided('a row is changed before its id is known');
  }

  #areUnknown(rows: readonly ModelRow[]): boolean {
    const name = this.#generated?.name;
    return name !== undefined && rows.some((row) => row[name] === UNKNOWN_ID);
  }

  /** The unknown ids, found in the database: they ascend in the order of insertion. Returns what is wrong, else null. */
  learnIds(found: readonly bigint[]): string | null {
    const name = (this.#generated as ModelColumn).name;
    const known = new Set(this.rows.map((row) => row[name]));
    const fresh = found.filter((id) => !known.has(id)).sort((a, b) => (a < b ? -1 : 1));
    const rows = this.rows.filter((row) => row[name] === UNKNOWN_ID);
    if (fresh.length !== rows.length) return `expected ${rows.length} rows with new ids, found ${fresh.length}`;
    for (const [i, row] of rows.entries()) row[name] = fresh[i] as bigint;
    this.#generator?.see(fresh, this.#isWhole);
    return null;
  }

  get generatedName(): string | null {
    return this.#generated?.name ?? null;
  }
}
