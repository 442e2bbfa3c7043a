import { type Column, findTable, type Table } from '#protocol/schema.ts';
import { keptOfText } from '../engine/model/kept.ts';
import { keyColumnsOf } from '../engine/model/key-order.ts';
import { schemaOfText } from '../engine/model/schema-text.ts';
import { keptColumnForm, storageForm } from '../engine/model/storage-form.ts';
import type { TableTarget } from '../engine/rows.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';
import type { KeptObject } from '../engine/transfer.ts';

/** Rows that move together: those of a table, or of an object in quarantine. They are read and written in key order. */
export interface Place {
  /** For the owner: "characters", "quarantined table old_notes", "quarantined column notes.title". */
  readonly label: string;
  /** In storage form, so with a key. */
  readonly target: TableTarget;
  /** Of the storage form. */
  readonly key: readonly Column[];
}

export function tablePlace({ namespace, revision }: StoredSchema, table: Table): Place {
  return placeOf(table.name, { namespace, revision, table: storageForm(table) });
}

export function keptPlace({ namespace, revision }: StoredSchema, kept: KeptObject): Place {
  const { physical, kind, table, column } = kept;
  const label = `quarantined ${kind} ${column === null ? table : `${table}.${column}`}`;
  return placeOf(label, { namespace, revision, table: storageForm(keptShape(kept)), physical });
}

/** The table that holds what is kept: without indexes, since rows are only carried. */
export function keptShape({ kind, table: name, definition }: Pick<KeptObject, 'kind' | 'table' | 'definition'>): Table {
  if (kind === 'column') {
    const { key, column } = keptOfText(definition);
    return keptColumnForm(name, key, column);
  }
  const table = findTable(schemaOfText(definition), name);
  if (table === null) throw new Error(`the definition of the quarantined table ${name} lacks it`);
  return { ...table, columns: table.columns.map((column) => ({ ...column, unique: false })), indexes: [] };
}

function placeOf(label: string, target: TableTarget): Place {
  return { label, target, key: keyColumnsOf(target) };
}
