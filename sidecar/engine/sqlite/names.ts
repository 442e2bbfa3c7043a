/** The hidden generated row id of a table without primary key. */
export const HIDDEN_ID = '_id';

/** SQLite keeps names that begin so for itself, and namespaces may be called `sqlite`. */
const RESERVED = 'sqlite_';

/** `<namespace>__<table>`: at most 63 bytes by the naming rule, and never beginning with `_`. */
export function physicalTable(namespace: string, table: string): string {
  const name = `${namespace}__${table}`;
  // No namespace begins with a digit.
  return name.startsWith(RESERVED) ? `0${name}` : name;
}

/** Only for names that passed the naming rule, or that are made of such. */
export function quoted(name: string): string {
  return `"${name}"`;
}
