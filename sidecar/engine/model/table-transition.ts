import type { Column } from '#protocol/columns.ts';
import type { Schema, Table } from '#protocol/schema.ts';
import type { PlanStep } from '../schema-calls.ts';

/**
 * All steps of a plan for one table that stays, together: engines often have to write such a table again, and only
 * once.
 */
export interface TableTransition {
  readonly from: Table;
  readonly to: Table;
  /** Stored column that each declared one continues, by the declared name; none for a new column. */
  readonly sources: ReadonlyMap<string, Column>;
  readonly removed: readonly Column[];
}

interface Collected {
  from: string;
  readonly columns: Map<string, string>;
  readonly removed: Column[];
}

export function transitionsOf(from: Schema, to: Schema, steps: readonly PlanStep[]): TableTransition[] {
  return [...collect(steps)].map(([name, collected]) => {
    const fromTable = tableOf(from, collected.from);
    const toTable = tableOf(to, name);
    const stored = new Map(fromTable.columns.map((column) => [column.name, column]));
    const sources = new Map<string, Column>();
    for (const column of toTable.columns) {
      const source = stored.get(collected.columns.get(column.name) ?? column.name);
      if (source !== undefined) sources.set(column.name, source);
    }
    return { from: fromTable, to: toTable, sources, removed: collected.removed };
  });
}

/** Whether rows get another key; renaming a key column does not change the key. */
export function changesKey({ from, to, sources }: TableTransition): boolean {
  const key = to.primaryKey?.map((name) => sources.get(name)?.name);
  return key?.join(' ') !== from.primaryKey?.join(' ');
}

function collect(steps: readonly PlanStep[]): Map<string, Collected> {
  const tables = new Map<string, Collected>();
  const tableAt = (name: string): Collected => {
    const known = tables.get(name);
    if (known !== undefined) return known;
    const collected: Collected = { from: name, columns: new Map(), removed: [] };
    tables.set(name, collected);
    return collected;
  };
  for (const step of steps) {
    switch (step.kind) {
      case 'createTable':
      case 'dropTable':
      case 'quarantineTable':
        break;
      case 'renameTable':
        tableAt(step.to).from = step.from;
        break;
      case 'renameColumn':
        tableAt(step.table).columns.set(step.to, step.from);
        break;
      case 'dropColumn':
      case 'quarantineColumn':
        tableAt(step.table).removed.push(step.column);
        break;
      case 'addColumn':
      case 'alterColumn':
      case 'changePrimaryKey':
      case 'addIndex':
      case 'dropIndex':
        tableAt(step.table);
        break;
      default:
        step satisfies never;
    }
  }
  return tables;
}

function tableOf(schema: Schema, name: string): Table {
  const table = schema.tables.find((candidate) => candidate.name === name);
  if (table === undefined) throw new Error(`a plan names table ${name}, which its schema lacks`);
  return table;
}

/** Transition to another form of a table in which every column keeps its name. */
export function transitionTo(from: Table, to: Table): TableTransition {
  const sources = new Map(from.columns.map((column) => [column.name, column]));
  return { from, to, sources, removed: [] };
}
