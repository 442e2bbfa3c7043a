import { physicalTable as neutralName } from '../model/physical-names.ts';
import type { TableTarget } from '../rows.ts';

/** SQLite keeps names that begin so for itself, and namespaces may be called `sqlite`. */
const RESERVED = 'sqlite_';

/** The name of contract section 6, with a digit before it where SQLite would not take it. */
export function physicalTable(namespace: string, table: string): string {
  const name = neutralName(namespace, table);
  // No namespace begins with a digit.
  return name.startsWith(RESERVED) ? `0${name}` : name;
}

/** Where the rows of a target lie. */
export function physicalOf({ namespace, table, physical }: TableTarget): string {
  return physical ?? physicalTable(namespace, table.name);
}

/** Only for names that passed the naming rule, or that are made of such. */
export function quoted(name: string): string {
  return `"${name}"`;
}
