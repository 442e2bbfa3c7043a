import { physicalTable } from '#engine/model/physical-names.ts';
import type { TableTransition } from '#engine/model/table-transition.ts';
import type { Unit } from '#engine/pending/plan.ts';
import type { Table } from '#protocol/schema.ts';
import type { SchemaPlace, SchemaWork, Step, StepWork } from './collections.ts';
import { followGenerators } from './generators.ts';
import { dropIndexes, indexesOf, makeIndexes, remakeIndexes } from './indexes.ts';
import { detachColumns, followChange, keepColumn, keepTable } from './quarantine.ts';
import { countLacking, restoreColumnSteps, restoreTableSteps } from './restore.ts';
import { rewriteRows } from './rows.ts';
import { createCollection, dropUsedName, renameCollection } from './whole.ts';

/** Always the same list for the same unit, in every build: the position of a pending change counts these steps. */
export function stepsOf(place: SchemaPlace, unit: Unit): Step[] {
  const { kind } = unit;
  const { namespace } = place;
  switch (kind) {
    case 'change': {
      const { change, keep } = unit;
      const copies = keep.map(
        (copy): Step =>
          (work) =>
            keepColumn(work, place, change.from, copy),
      );
      return [...copies, ...transitionSteps(place, change)];
    }
    case 'create':
      return [(work) => createTable(work, namespace, unit.table)];
    case 'drop':
      return [(work) => dropTable(work, namespace, unit.table)];
    case 'quarantine':
      return [(work) => keepTable(work, place, unit)];
    case 'restoreTable':
      return restoreTableSteps(place, unit);
    case 'restoreColumn':
      return restoreColumnSteps(place, unit);
    default:
      return kind satisfies never;
  }
}

/** A crash leaves a table without some of its indexes, under one of its two names, with rows of both forms. */
function transitionSteps({ namespace, now }: SchemaPlace, transition: TableTransition): Step[] {
  const { from, to } = transition;
  const before = physicalTable(namespace, from.name);
  const after = physicalTable(namespace, to.name);
  const wanted = indexesOf(after, to);
  const steps: Step[] = [(work) => dropIndexes(work, before, wanted)];
  if (before !== after) {
    steps.push(
      (work) => followGenerators(work, before, after),
      (work) => renameCollection(work, before, after),
    );
  }
  steps.push(
    (work) => rewriteRows(work, after, transition, now),
    (work) => followChange(work, namespace, transition),
    (work) => makeIndexes(work, after, wanted),
  );
  return steps;
}

async function createTable(work: StepWork, namespace: string, table: Table): Promise<void> {
  const physical = physicalTable(namespace, table.name);
  await createCollection(work, physical);
  await remakeIndexes(work, physical, table);
}

async function dropTable(work: StepWork, namespace: string, table: Table): Promise<void> {
  await dropUsedName(work, physicalTable(namespace, table.name));
  await detachColumns(work, namespace, table.name);
}

/** Number of rows without a value for a required column that came back; 0 for every other change. */
export async function lackingRows(work: SchemaWork, namespace: string, units: readonly Unit[]): Promise<number> {
  const [unit] = units;
  return unit?.kind === 'restoreColumn' ? countLacking(work, namespace, unit) : 0;
}
