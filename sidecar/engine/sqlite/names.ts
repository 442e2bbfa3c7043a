/** The hidden generated row id of a table without primary key. */
export const HIDDEN_ID = '_id';

/** `<namespace>__<table>`: at most 62 bytes by the naming rule, and never beginning with `_`. */
export function physicalTable(namespace: string, table: string): string {
  return `${namespace}__${table}`;
}

/** Only for names that passed the naming rule, or that are made of such. */
export function quoted(name: string): string {
  return `"${name}"`;
}
