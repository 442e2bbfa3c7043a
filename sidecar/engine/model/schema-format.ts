import type { Column, Schema } from '#protocol/schema.ts';

/** The newest version of the `_` tables that this program knows. A database of a newer one is refused and never touched. */
export const FORMAT_VERSION = 2;

/** Of a new database. It grows only with what an older program would destroy, so that all others may go back to one. */
export const FIRST_FORMAT_VERSION = 1;

/**
 * A program that knows no parts takes their tables and columns out of the schema with its next sync; one that knows no
 * derived columns and column options writes rows that do not obey them.
 */
export function formatOf({ parts = [], tables }: Schema): number {
  const isNew = parts.length > 0 || tables.some((table) => table.columns.some(hasOption));
  return isNew ? FORMAT_VERSION : FIRST_FORMAT_VERSION;
}

function hasOption({ derived, onUpdate, oneOf }: Column): boolean {
  return derived !== undefined || onUpdate !== undefined || oneOf !== undefined;
}
