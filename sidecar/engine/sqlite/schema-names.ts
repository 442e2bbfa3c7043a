import { sha256Hex } from '../../../db_connector/protocol/canonical-json.ts';
import { physicalTable } from './names.ts';

/** Contract section 6: every physical name has at most 63 bytes and is shortened with a hash. */
const MAX_NAME_BYTES = 63;
const HASH_DIGITS = 16;

/** Names are ASCII by the naming rule. */
function shortened(name: string): string {
  if (name.length <= MAX_NAME_BYTES) return name;
  return `${name.slice(0, MAX_NAME_BYTES - HASH_DIGITS - 2)}__${sha256Hex(name).slice(0, HASH_DIGITS)}`;
}

/** Has more than one `__`, and so is never the name of a table, with which indexes share their space of names. */
export function physicalIndex(namespace: string, table: string, index: string): string {
  return shortened(`${physicalTable(namespace, table)}__${index}`);
}

/** The index that keeps a unique column unique. No declared index can have this name. */
export function physicalUnique(namespace: string, table: string, column: string): string {
  return shortened(`${physicalTable(namespace, table)}__u__${column}`);
}

/** The id is first, so that no two are equal however they are cut. */
export function quarantineName(id: number, namespace: string, table: string, column: string | null): string {
  return shortened(`_q${id}_${physicalTable(namespace, table)}${column === null ? '' : `__${column}`}`);
}
