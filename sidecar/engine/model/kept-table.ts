import { MAIN_PART, type Table } from '#protocol/schema.ts';
import { ownershipOf } from './schema-parts.ts';
import { schemaOfText, textOfSchema } from './schema-text.ts';

/** What is known of a table in quarantine: as a schema that holds it alone, for the part that declared it. */
export function textOfKeptTable(table: Table, part = MAIN_PART): string {
  const parts = part === MAIN_PART ? [] : [{ name: part, tables: [table.name], extensions: [] }];
  return textOfSchema({ tables: [table], parts });
}

export function partOfKeptTable(text: string, table: string): string {
  return ownershipOf(schemaOfText(text)).ofTable(table);
}
