/**
 * Meaning of `schema.sync` and `schema.extend` for tables, columns and rows (contract section 11), once more in a few
 * lines that import nothing of what they judge.
 */

/** Table to its columns, without the key `id` that every table has by its owner. */
export type Columns = ReadonlyMap<string, readonly string[]>;

export interface Declaration {
  readonly own: Columns;
  /** On tables of others. */
  readonly added: Columns;
}

export type ModelRow = Readonly<Record<string, unknown>>;

const NOTHING: Declaration = { own: new Map(), added: new Map() };

export class PartsModel {
  #declared = new Map<string, Declaration>();
  readonly #rows = new Map<string, ModelRow[]>();

  /** Every table with the columns of all, by name. */
  get tables(): Map<string, string[]> {
    return tablesOf(this.#declared);
  }

  rows(table: string): readonly ModelRow[] {
    return this.#rows.get(table) ?? [];
  }

  insert(table: string, row: ModelRow): void {
    this.#rows.set(table, [...this.rows(table), row]);
  }

  declaredBy(part: string): Declaration {
    return this.#declared.get(part) ?? NOTHING;
  }

  /** Whether the declaration stands in nobody's way; then it is taken. */
  declare(part: string, declaration: Declaration): boolean {
    const next = new Map(this.#declared).set(part, declaration);
    if (!isPossible(next)) return false;
    const before = this.tables;
    this.#declared = next;
    const after = this.tables;
    for (const name of before.keys()) {
      const columns = after.get(name);
      if (columns === undefined) this.#rows.delete(name);
      else
        this.#rows.set(
          name,
          this.rows(name).map((row) => changed(row, before.get(name) ?? [], columns)),
        );
    }
    return true;
  }
}

/** Values of a column that goes are gone; one that comes, or comes again, is empty. */
function changed(row: ModelRow, before: readonly string[], after: readonly string[]): ModelRow {
  const values = after.map((name) => [name, before.includes(name) ? row[name] : null]);
  return { id: row.id, ...Object.fromEntries(values) };
}

function tablesOf(declared: ReadonlyMap<string, Declaration>): Map<string, string[]> {
  const tables = new Map<string, string[]>();
  for (const { own } of declared.values()) for (const [name, columns] of own) tables.set(name, [...columns]);
  for (const { added } of declared.values()) for (const [name, columns] of added) tables.get(name)?.push(...columns);
  return tables;
}

function isPossible(declared: ReadonlyMap<string, Declaration>): boolean {
  const owned = [...declared.values()].flatMap(({ own }) => [...own.keys()]);
  const extended = [...declared.values()].flatMap(({ added }) => [...added.keys()]);
  const columns = [...tablesOf(declared).values()];
  return (
    new Set(owned).size === owned.length &&
    extended.every((name) => owned.includes(name)) &&
    columns.every((names) => new Set(names).size === names.length)
  );
}
