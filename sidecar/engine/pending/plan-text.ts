import { isJsonObject, type Json, type JsonObject, parseJson, type Writable, writeJson } from '#protocol/json.ts';
import { type Column, columnOf, type Table } from '#protocol/schema.ts';
import { keptOfText, textOfKeptTable } from '../model/kept.ts';
import type { Restorable } from '../model/restore-rules.ts';
import { schemaOfText, storedSchemaOf, textOfSchema } from '../model/schema-text.ts';
import type { PlanStep, QuarantinedObject } from '../schema-calls.ts';
import type { Plan, RestorePlan, SyncPlan } from './plan.ts';

export function textOfPlan(plan: Plan): string {
  if (plan.kind === 'restore') return writeJson(plan as unknown as Writable);
  return writeJson({ ...plan, to: textOfSchema(plan.to), steps: plan.steps as unknown as Writable });
}

/** @param text written by this build from the very types that it is read as, or by an older build */
export function planOfText(text: string, namespace: string): Plan {
  const json = objectOf(parseJson(text));
  if (json.kind === 'sync') return { ...(json as unknown as SyncPlan), to: schemaOfText(String(json.to)) };
  if (json.kind === 'restore') return json as unknown as RestorePlan;
  return olderPlan(json, namespace);
}

/**
 * Plan in a text of version 0.2 or older, which an update finds after a change was cut off. MySQL stored the units of
 * the work, MongoDB the steps with the first reserved id, or the document of the kept object.
 */
function olderPlan(json: JsonObject, namespace: string): Plan {
  const now = Number(json.now);
  if (json.document !== undefined) return { kind: 'restore', kept: keptOfDocument(objectOf(json.document)), now };
  if (json.steps !== undefined) return planOfSteps(json, now);
  const units = listOf(json.units).map(objectOf);
  if (json.target !== null) return planOfUnits(units, json.target ?? null, now);
  const [unit] = units;
  if (unit === undefined) throw unreadable();
  return { kind: 'restore', kept: keptOfUnit(unit, namespace), now };
}

function keptOfDocument({ _id, physical, definition, ...about }: JsonObject): Restorable {
  const object = { id: Number(_id), ...about } as unknown as QuarantinedObject;
  return { object, physical: String(physical), definition: String(definition) };
}

function planOfSteps(json: JsonObject, now: number): SyncPlan {
  const steps = json.steps as unknown as readonly PlanStep[];
  const keeping = steps.filter(({ kind }) => kind === 'quarantineColumn' || kind === 'quarantineTable');
  const ids = keeping.map((_, position) => Number(json.firstId) + position);
  return { kind: 'sync', to: schemaOfText(String(json.to)), steps, ids, now };
}

function planOfUnits(units: readonly JsonObject[], target: Json, now: number): SyncPlan {
  const steps: PlanStep[] = [];
  const ids: number[] = [];
  for (const unit of units) {
    const { kind } = unit;
    if (kind === 'create') steps.push({ kind: 'createTable', table: tableOf(unit.table) });
    if (kind === 'drop') steps.push({ kind: 'dropTable', table: tableOf(unit.table) });
    if (kind === 'change') steps.push(...stepsOfChange(unit, ids));
    if (kind === 'quarantine') {
      steps.push({ kind: 'quarantineTable', table: tableOf(unit.table) });
      ids.push(Number(unit.id));
    }
  }
  return { kind: 'sync', to: storedSchemaOf(target), steps, ids, now };
}

/** Steps from which `transitionsOf` makes the same transition. The parts of kept columns are in quarantine already. */
function stepsOfChange(unit: JsonObject, ids: number[]): PlanStep[] {
  const from = tableOf(unit.from);
  const to = tableOf(unit.to);
  const table = to.name;
  const stored = (name: Json | undefined): Column => columnOf(from, String(name), 'pending');
  const sources = new Map(listOf(unit.sources).map((pair) => [String(listOf(pair)[0]), stored(listOf(pair)[1])]));
  const kept = new Map(
    listOf(unit.keep)
      .map(objectOf)
      .map((keep) => [String(keep.column), Number(keep.id)]),
  );
  const steps: PlanStep[] = from.name === table ? [] : [{ kind: 'renameTable', from: from.name, to: table }];
  for (const column of listOf(unit.removed).map(stored)) {
    const id = kept.get(column.name);
    steps.push({ kind: id === undefined ? 'dropColumn' : 'quarantineColumn', table, column });
    if (id !== undefined) ids.push(id);
  }
  for (const column of to.columns) steps.push(stepOfColumn(table, sources.get(column.name), column));
  return steps;
}

function stepOfColumn(table: string, source: Column | undefined, column: Column): PlanStep {
  if (source === undefined) return { kind: 'addColumn', table, column };
  if (source.name === column.name) return { kind: 'alterColumn', table, from: source, to: column };
  return { kind: 'renameColumn', table, from: source.name, to: column.name };
}

function keptOfUnit(unit: JsonObject, namespace: string): Restorable {
  const table = tableOf(unit.table);
  const isTable = unit.kind === 'restoreTable';
  const part = typeof unit.part === 'string' ? unit.part : undefined;
  const definition = isTable ? textOfKeptTable(table, part) : String(unit.kept);
  const kind = isTable ? 'table' : 'column';
  const column = isTable ? null : keptOfText(definition).column.name;
  // The text has neither rows nor time, and a restoration reads neither.
  const name = { id: Number(unit.id), namespace, kind, table: table.name, column } as const;
  const object = { ...name, rows: 0, quarantinedAt: '' };
  return { object, physical: String(unit.physical), definition };
}

function tableOf(text: Json | undefined): Table {
  const [table] = schemaOfText(String(text)).tables;
  if (table === undefined) throw unreadable();
  return table;
}

function objectOf(json: Json | undefined): JsonObject {
  if (json === undefined || !isJsonObject(json)) throw unreadable();
  return json;
}

function listOf(json: Json | undefined): readonly Json[] {
  if (!Array.isArray(json)) throw unreadable();
  return json;
}

function unreadable(): Error {
  return new Error('a stored schema change is not readable');
}
