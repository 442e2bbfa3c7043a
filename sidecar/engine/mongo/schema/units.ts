import { physicalTable } from '#engine/model/physical-names.ts';
import type { Restored } from '#engine/model/restore-rules.ts';
import { type TableTransition, transitionsOf } from '#engine/model/table-transition.ts';
import type { PlanStep } from '#engine/schema-calls.ts';
import type { Schema, Table } from '#protocol/schema.ts';
import type { SchemaWork } from './collections.ts';
import { followGenerators } from './generators.ts';
import { dropIndexes, indexesOf, makeIndexes } from './indexes.ts';
import { isKeeping, type SyncPlan } from './plan.ts';
import { detachColumns, followChange, type KeepingPlace, keepColumn, keepTable } from './quarantine.ts';
import { rewriteRows } from './rows.ts';
import { createCollection, dropCollection, renameCollection } from './whole.ts';

/**
 * A part of a change that may be done again as long as nothing after it has begun: whoever finishes a change that was
 * cut off begins with the unit that was under way.
 */
export type Unit = (work: SchemaWork) => Promise<void>;

/** The same list for the same plan. A name is given and taken once at most in a plan, so that no unit undoes another. */
export function unitsOf(from: Schema, plan: SyncPlan): Unit[] {
  const ids = new Map(plan.steps.filter(isKeeping).map((step, position) => [step, plan.firstId + position]));
  const placeOf = (step: PlanStep, part: string | undefined): KeepingPlace => ({
    ...{ namespace: plan.namespace, id: Number(ids.get(step)), now: plan.now },
    ...(part === undefined ? {} : { part }),
  });
  const units: Unit[] = [];
  for (const transition of transitionsOf(from, plan.to, plan.steps)) {
    for (const step of plan.steps) {
      if (step.kind !== 'quarantineColumn' || step.table !== transition.to.name) continue;
      units.push((work) => keepColumn(work, placeOf(step, step.part), transition.from, step.column));
    }
    units.push(...transitionUnits(plan, transition));
  }
  for (const step of plan.steps) {
    if (step.kind === 'createTable') units.push((work) => createTable(work, plan.namespace, step.table));
    if (step.kind === 'quarantineTable') units.push((work) => keepTable(work, placeOf(step, step.part), step.table));
    if (step.kind === 'dropTable') units.push((work) => dropTable(work, plan.namespace, step.table));
  }
  return units;
}

/** What crash points leave: a table without some of its indexes, under one of its two names, with rows of both forms. */
function transitionUnits({ namespace, now }: SyncPlan, transition: TableTransition): Unit[] {
  const { from, to } = transition;
  const before = physicalTable(namespace, from.name);
  const after = physicalTable(namespace, to.name);
  const wanted = indexesOf(after, to);
  const units: Unit[] = [(work) => dropIndexes(work, before, wanted)];
  if (before !== after) {
    units.push(
      (work) => followGenerators(work, before, after),
      (work) => renameCollection(work, before, after),
    );
  }
  units.push(
    (work) => rewriteRows(work, after, transition, now),
    (work) => followChange(work, namespace, transition),
    (work) => makeIndexes(work, after, wanted),
  );
  return units;
}

async function createTable(work: SchemaWork, namespace: string, table: Table): Promise<void> {
  const physical = physicalTable(namespace, table.name);
  const wanted = indexesOf(physical, table);
  await createCollection(work, physical);
  await dropIndexes(work, physical, wanted);
  await makeIndexes(work, physical, wanted);
}

async function dropTable(work: SchemaWork, namespace: string, table: Table): Promise<void> {
  await dropCollection(work, physicalTable(namespace, table.name));
  await detachColumns(work, namespace, table.name);
}

/** A change as a list of units, and what is stored when all are done. */
export interface Job {
  readonly units: readonly Unit[];
  /** Epoch milliseconds. */
  readonly now: number;
  result(work: SchemaWork): Promise<Restored>;
}
