import { type KeptColumn, keptOfText, textOfKept } from '#engine/model/kept.ts';
import { schemaOfText, storedSchemaOf, storedSchemaToJson, textOfSchema } from '#engine/model/schema-text.ts';
import type { TableTransition } from '#engine/model/table-transition.ts';
import { parseJson, writeJson } from '#protocol/json.ts';
import { isJsonObject, type Json, type JsonObject } from '#protocol/json-value.ts';
import { columnOf, type Schema, type Table } from '#protocol/schema.ts';

/** A column that is copied before its table loses it. */
export interface Keep {
  readonly column: string;
  /** In `_quarantine`. */
  readonly id: number;
  /** Name of the kept table. */
  readonly physical: string;
}

/**
 * A part of a change that either is done or not, and can be told: DDL commits by itself, so a crash may fall between any
 * two. Each names all that it needs, because whoever finishes it may be another process.
 */
export type Unit =
  | { readonly kind: 'create'; readonly table: Table }
  | { readonly kind: 'change'; readonly change: TableTransition; readonly keep: readonly Keep[] }
  | { readonly kind: 'drop'; readonly table: Table }
  | {
      readonly kind: 'quarantine' | 'restoreTable';
      readonly table: Table;
      readonly id: number;
      readonly physical: string;
      /** To which a table comes back. */
      readonly part?: string;
    }
  | {
      readonly kind: 'restoreColumn';
      /** Without the column. */
      readonly table: Table;
      readonly kept: KeptColumn;
      readonly id: number;
      readonly physical: string;
    };

/** A change as it is stored before its first statement, in `_schemas.pending`. */
export interface Pending {
  readonly units: readonly Unit[];
  /** What the schema is when every unit is done; null where that follows from the units. */
  readonly target: Schema | null;
  /** Epoch milliseconds: the time that fills `now` columns. */
  readonly now: number;
}

export function textOfPending({ units, target, now }: Pending): string {
  return writeJson({ units: units.map(unitToJson), target: target === null ? null : storedSchemaToJson(target), now });
}

function unitToJson(unit: Unit): JsonObject {
  switch (unit.kind) {
    case 'create':
    case 'drop':
      return { kind: unit.kind, table: textOfTable(unit.table) };
    case 'quarantine':
    case 'restoreTable':
      return {
        ...{ kind: unit.kind, table: textOfTable(unit.table), id: unit.id, physical: unit.physical },
        ...(unit.part === undefined ? {} : { part: unit.part }),
      };
    case 'restoreColumn': {
      const { kind, table, kept, id, physical } = unit;
      return { kind, table: textOfTable(table), kept: textOfKept(kept), id, physical };
    }
    case 'change': {
      const { from, to, sources, removed } = unit.change;
      return {
        kind: unit.kind,
        from: textOfTable(from),
        to: textOfTable(to),
        sources: [...sources].map(([name, source]) => [name, source.name]),
        removed: removed.map(({ name }) => name),
        keep: unit.keep.map((keep) => ({ ...keep })),
      };
    }
    default:
      return unit satisfies never;
  }
}

/** Written by this program, so that what does not fit is a fault of the database. */
export function pendingOfText(text: string): Pending {
  const { units, target, now } = objectOf(parseJson(text));
  return {
    units: listOf(units).map((unit) => unitOf(objectOf(unit))),
    target: target === null ? null : storedSchemaOf(target ?? null),
    now: Number(now),
  };
}

function unitOf(json: JsonObject): Unit {
  const kind = String(json.kind);
  switch (kind) {
    case 'create':
    case 'drop':
      return { kind, table: tableOfText(json.table) };
    case 'quarantine':
    case 'restoreTable':
      return {
        ...{ kind, table: tableOfText(json.table), id: Number(json.id), physical: String(json.physical) },
        ...(typeof json.part === 'string' ? { part: json.part } : {}),
      };
    case 'restoreColumn': {
      const kept = keptOfText(String(json.kept));
      return { kind, table: tableOfText(json.table), kept, id: Number(json.id), physical: String(json.physical) };
    }
    case 'change':
      return { kind, change: changeOf(json), keep: listOf(json.keep).map((item) => keepOf(objectOf(item))) };
    default:
      throw unreadable();
  }
}

function changeOf(json: JsonObject): TableTransition {
  const from = tableOfText(json.from);
  const stored = (name: Json | undefined) => columnOf(from, String(name), 'pending');
  return {
    from,
    to: tableOfText(json.to),
    sources: new Map(listOf(json.sources).map((pair) => [String(listOf(pair)[0]), stored(listOf(pair)[1])])),
    removed: listOf(json.removed).map(stored),
  };
}

function keepOf({ column, id, physical }: JsonObject): Keep {
  return { column: String(column), id: Number(id), physical: String(physical) };
}

function textOfTable(table: Table): string {
  return textOfSchema({ tables: [table] });
}

function tableOfText(text: Json | undefined): Table {
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
  return new Error('a change in _schemas.pending is not readable');
}
