import { byName, type Column, type Index, MAIN_PART, type Renames, type Schema, type Table } from '#protocol/schema.ts';
import { compareColumns } from '../engine/model/column-change.ts';
import { type Ownership, ownershipOf } from '../engine/model/schema-parts.ts';
import type { PlanStep } from '../engine/schema-calls.ts';
import { entryOf, type PlanEntry, typeName } from './plan-entry.ts';

/** Treatment of tables and columns that are no longer declared; `schema.removed` of the configuration. */
export type RemovedMode = 'quarantine' | 'drop' | 'deny';

export interface SchemaPlan {
  readonly steps: readonly PlanStep[];
  /** An entry for each step, in the same order. */
  readonly entries: readonly PlanEntry[];
  /** Why the plan cannot be done at all, in plain words. */
  readonly unsupported: readonly string[];
  readonly isDestructive: boolean;
}

/** The way from the stored schema (null before the first sync) to the declared one. Pure. */
export function planSchema(
  stored: Schema | null,
  declared: Schema,
  renames: Renames,
  removed: RemovedMode,
): SchemaPlan {
  const planner = new Planner(renames, removed === 'quarantine', ownershipOf(stored ?? { tables: [] }));
  planner.plan(stored?.tables ?? [], declared.tables);
  const entries = planner.steps.map(entryOf);
  return {
    steps: planner.steps,
    entries,
    unsupported: planner.unsupported,
    isDestructive: entries.some((entry) => entry.destructive),
  };
}

class Planner {
  readonly steps: PlanStep[] = [];
  readonly unsupported: string[] = [];
  readonly #renames: Renames;
  readonly #keepsRemoved: boolean;
  readonly #ownership: Ownership;

  constructor(renames: Renames, keepsRemoved: boolean, ownership: Ownership) {
    this.#renames = renames;
    this.#keepsRemoved = keepsRemoved;
    this.#ownership = ownership;
  }

  plan(stored: readonly Table[], declared: readonly Table[]): void {
    const left = new Map(stored.map((table) => [table.name, table]));
    const created: Table[] = [];
    for (const to of declared.toSorted(byName)) {
      const from = this.#sourceTable(left, to);
      if (from === undefined) {
        created.push(to);
        continue;
      }
      left.delete(from.name);
      this.#changeTable(from, to);
    }
    this.steps.push(...created.map((table) => ({ kind: 'createTable', table }) as const));
    const kind = this.#keepsRemoved ? 'quarantineTable' : 'dropTable';
    for (const table of [...left.values()].toSorted(byName)) {
      this.steps.push({ kind, table, ...ofPart(this.#ownership.ofTable(table.name)) });
    }
  }

  #sourceTable(stored: ReadonlyMap<string, Table>, to: Table): Table | undefined {
    const oldName = this.#renames.tables.get(to.name);
    const same = stored.get(to.name);
    const old = oldName === undefined ? undefined : stored.get(oldName);
    if (old !== undefined && same !== undefined) {
      this.unsupported.push(`table ${to.name}: cannot be renamed from ${oldName}, because both exist`);
    }
    return same ?? old;
  }

  #changeTable(from: Table, to: Table): void {
    if (from.name !== to.name) {
      this.steps.push({ kind: 'renameTable', from: from.name, to: to.name });
    }
    const sources = this.#sourceColumns(from, to);
    const newNames = new Map([...sources].map(([newName, column]) => [column.name, newName]));
    const [dropped, added] = changedIndexes(from, to, newNames);
    this.#indexSteps('dropIndex', to, dropped);
    this.#removeColumns(from, to, newNames);
    for (const column of to.columns) {
      const source = sources.get(column.name);
      if (source !== undefined) this.#changeColumn(to.name, followed(source, newNames), column);
    }
    for (const column of to.columns) {
      if (!sources.has(column.name)) this.steps.push({ kind: 'addColumn', table: to.name, column });
    }
    this.#changeKey(from, to, newNames);
    this.#indexSteps('addIndex', to, added);
  }

  /** The stored column that each declared one continues, by the declared name. */
  #sourceColumns(from: Table, to: Table): Map<string, Column> {
    const stored = new Map(from.columns.map((column) => [column.name, column]));
    const renames = this.#renames.columns.get(to.name);
    const sources = new Map<string, Column>();
    for (const { name } of to.columns) {
      const oldName = renames?.get(name);
      const same = stored.get(name);
      const old = oldName === undefined ? undefined : stored.get(oldName);
      if (old !== undefined && same !== undefined) {
        this.unsupported.push(`column ${to.name}.${name}: cannot be renamed from ${oldName}, because both exist`);
      }
      const source = same ?? old;
      if (source !== undefined) sources.set(name, source);
    }
    return sources;
  }

  #removeColumns(from: Table, to: Table, newNames: ReadonlyMap<string, string>): void {
    for (const column of from.columns) {
      if (newNames.has(column.name)) continue;
      // Nothing is lost with a derived one, and what came back would be out of date.
      const isKept = this.#keepsRemoved && column.derived === undefined;
      const kind = isKept ? 'quarantineColumn' : 'dropColumn';
      this.steps.push({ kind, table: to.name, column, ...ofPart(this.#ownership.ofColumn(from.name, column.name)) });
    }
  }

  #changeColumn(table: string, from: Column, to: Column): void {
    if (from.name !== to.name) {
      this.steps.push({ kind: 'renameColumn', table, from: from.name, to: to.name });
    }
    const change = compareColumns(from, to);
    if (!change.isSupported) {
      this.unsupported.push(unsupportedText(table, from, to));
    } else if (change.isDifferent) {
      this.steps.push({ kind: 'alterColumn', table, from, to });
    }
  }

  #changeKey(from: Table, to: Table, newNames: ReadonlyMap<string, string>): void {
    const toKey = to.primaryKey ?? null;
    const fromKey = from.primaryKey ?? null;
    const renamed = fromKey?.map((name) => newNames.get(name) ?? name) ?? null;
    if (!isSameList(renamed ?? [], toKey ?? [])) {
      this.steps.push({ kind: 'changePrimaryKey', table: to.name, from: fromKey, to: toKey });
    }
  }

  #indexSteps(kind: 'addIndex' | 'dropIndex', table: Table, indexes: readonly Index[]): void {
    this.steps.push(...indexes.map((index) => ({ kind, table: table.name, index }) as const));
  }
}

/** A derived column by the new name of its source, under which it takes the same values. */
export function followed(column: Column, newNames: ReadonlyMap<string, string>): Column {
  const { derived } = column;
  const from = derived === undefined ? undefined : newNames.get(derived.from);
  return derived === undefined || from === undefined ? column : { ...column, derived: { ...derived, from } };
}

/** Indexes to drop and indexes to add; an index that differs only by renamed columns is neither. */
function changedIndexes(from: Table, to: Table, newNames: ReadonlyMap<string, string>): [Index[], Index[]] {
  const kept = (index: Index): boolean => {
    const other = to.indexes.find((candidate) => candidate.name === index.name);
    const columns = index.columns.map((name) => newNames.get(name) ?? null);
    return other !== undefined && other.unique === index.unique && isSameList(columns, other.columns);
  };
  const dropped = from.indexes.filter((index) => !kept(index));
  const staying = new Set(from.indexes.filter(kept).map((index) => index.name));
  return [dropped.toSorted(byName), to.indexes.filter((index) => !staying.has(index.name)).toSorted(byName)];
}

function ofPart(part: string): { readonly part?: string } {
  return part === MAIN_PART ? {} : { part };
}

function unsupportedText(table: string, from: Column, to: Column): string {
  if (from.autoIncrement !== to.autoIncrement) {
    return `column ${table}.${to.name}: autoIncrement cannot be switched ${to.autoIncrement ? 'on' : 'off'}`;
  }
  if (to.derived !== undefined) {
    return `column ${table}.${to.name}: has values of its own, which a derived column would replace; give the derived one another name`;
  }
  return `column ${table}.${to.name}: ${typeName(from)} cannot become ${typeName(to)}`;
}

function isSameList(a: readonly (string | null)[], b: readonly (string | null)[]): boolean {
  return a.length === b.length && a.every((item, position) => item === b[position]);
}
