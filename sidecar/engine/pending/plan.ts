import type { Column } from '#protocol/columns.ts';
import type { Schema, Table } from '#protocol/schema.ts';
import { type KeptColumn, keptOf, keptOfText, textOfKept, textOfKeptTable } from '../model/kept.ts';
import { physicalTable, quarantineName } from '../model/physical-names.ts';
import {
  type Restorable,
  type Restored,
  restorableTable,
  restoredColumn,
  restoredNote,
  schemaWith,
  tableOfKept,
} from '../model/restore-rules.ts';
import { type TableTransition, transitionsOf } from '../model/table-transition.ts';
import type { PlanStep } from '../schema-calls.ts';

/**
 * A change of a schema, stored before its first step. The units of work are derived from the plan and the schema before
 * it, so that a newer build can finish the change of an older one.
 */
export type Plan = SyncPlan | RestorePlan;

export interface SyncPlan {
  readonly kind: 'sync';
  readonly to: Schema;
  readonly steps: readonly PlanStep[];
  /**
   * Ids in quarantine, in the order of `keepingsOf`. Reserved before the first step, so that a repetition makes no
   * second object.
   */
  readonly ids: readonly number[];
  /** Epoch milliseconds: the time that fills `now` columns. */
  readonly now: number;
}

/** A kept object comes back. */
export interface RestorePlan {
  readonly kind: 'restore';
  readonly kept: Restorable;
  /** Epoch milliseconds, as in a sync. */
  readonly now: number;
}

/** A plan without ids, which the database reserves when it stores the plan. */
export type NewPlan = Omit<SyncPlan, 'ids'> | RestorePlan;

/** An object that a sync puts into quarantine. */
export interface Keeping {
  readonly step: PlanStep;
  /** Declared name before the change. */
  readonly table: string;
  /** Null for a whole table. */
  readonly column: string | null;
  readonly definition: string;
}

/** Objects that the steps put into quarantine, in the order of the steps. */
export function keepingsOf(from: Schema, { to, steps }: Pick<SyncPlan, 'to' | 'steps'>): Keeping[] {
  const before = new Map(transitionsOf(from, to, steps).map((change) => [change.to.name, change.from]));
  return steps.flatMap((step): Keeping[] => {
    if (step.kind === 'quarantineTable') {
      const definition = textOfKeptTable(step.table, step.part);
      return [{ step, table: step.table.name, column: null, definition }];
    }
    const table = step.kind === 'quarantineColumn' ? before.get(step.table) : undefined;
    if (step.kind !== 'quarantineColumn' || table === undefined) return [];
    const definition = textOfKept(keptOf(table, step.column, step.part));
    return [{ step, table: table.name, column: step.column.name, definition }];
  });
}

/** Place of an object in quarantine. */
export interface KeptPlace {
  readonly id: number;
  /** Name of the kept table. */
  readonly physical: string;
  readonly definition: string;
}

/** A column that is copied before its table loses it. */
export type KeptCopy = KeptPlace & { readonly column: Column };

/** A part of a plan with all that it needs. */
export type Unit =
  | { readonly kind: 'change'; readonly change: TableTransition; readonly keep: readonly KeptCopy[] }
  | { readonly kind: 'create' | 'drop'; readonly table: Table }
  | ({ readonly kind: 'quarantine'; readonly table: Table } & KeptPlace)
  | RestoringUnit;

export type RestoringUnit = RestoreTableUnit | RestoreColumnUnit;

export interface RestoreTableUnit extends KeptPlace {
  readonly kind: 'restoreTable';
  readonly table: Table;
}

export interface RestoreColumnUnit extends KeptPlace {
  readonly kind: 'restoreColumn';
  /** The table without the column. */
  readonly table: Table;
  readonly kept: KeptColumn;
}

/**
 * Always the same list for the same plan, in the order of doing. A plan uses and frees a name at most once, so that no
 * unit undoes another.
 */
export function unitsOf(namespace: string, from: Schema, plan: Plan): Unit[] {
  return plan.kind === 'sync' ? syncUnits(namespace, from, plan) : [restoringUnit(from, plan.kept)];
}

function syncUnits(namespace: string, from: Schema, plan: SyncPlan): Unit[] {
  const places = new Map<PlanStep, KeptPlace>();
  for (const [position, { step, table, column, definition }] of keepingsOf(from, plan).entries()) {
    const id = Number(plan.ids[position]);
    places.set(step, { id, physical: quarantineName(id, physicalTable(namespace, table), column), definition });
  }
  const changes = transitionsOf(from, plan.to, plan.steps).map((change): Unit => {
    const keep = plan.steps.flatMap((step): KeptCopy[] => {
      const place = places.get(step);
      const isKept = step.kind === 'quarantineColumn' && step.table === change.to.name && place !== undefined;
      return isKept ? [{ ...place, column: step.column }] : [];
    });
    return { kind: 'change', change, keep };
  });
  const others = plan.steps.flatMap((step): Unit[] => {
    const place = places.get(step);
    if (step.kind === 'createTable') return [{ kind: 'create', table: step.table }];
    if (step.kind === 'dropTable') return [{ kind: 'drop', table: step.table }];
    return step.kind === 'quarantineTable' && place !== undefined
      ? [{ kind: 'quarantine', table: step.table, ...place }]
      : [];
  });
  return [...changes, ...others];
}

/** @throws ApiError `unsupported_change` with the reason if the object has no place any more */
function restoringUnit(from: Schema, { object, physical, definition }: Restorable): RestoringUnit {
  const place = { id: object.id, physical, definition };
  if (object.kind === 'table')
    return { kind: 'restoreTable', table: restorableTable(object, definition, from), ...place };
  const kept = keptOfText(definition);
  return { kind: 'restoreColumn', table: tableOfKept(object, kept, from), kept, ...place };
}

/** The table with the object in it; `lacking` rows of it have nothing for a required column. */
export function restoredTable(unit: RestoringUnit, lacking: number): Table {
  const { table } = unit;
  if (unit.kind === 'restoreTable') return table;
  return { ...table, columns: [...table.columns, restoredColumn(unit.kept, lacking)] };
}

/** The schema after the whole plan. @throws ApiError `unsupported_change` as `unitsOf` does */
export function outcomeOf(from: Schema, plan: Plan, lacking = 0): Restored {
  if (plan.kind === 'sync') return { schema: plan.to, note: null };
  const { object, definition } = plan.kept;
  const table = restoredTable(restoringUnit(from, plan.kept), lacking);
  return { schema: schemaWith(object, definition, from, table), note: restoredNote(lacking) };
}
