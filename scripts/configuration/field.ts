/** Row of docs/configuration.md. */
export interface Field {
  /** Path in the file (`api.port`, `keys[].kid`). */
  readonly path: string;
  /** Accepted values, in words. */
  readonly expected: string;
  /** Undefined if the field must be present; null if an omitted field has no value. */
  readonly defaultValue: unknown;
  readonly meaning: string;
}

/** Adds each field's meaning. @throws Error if the fields and the meanings are not the same set */
export function withMeanings(
  fields: readonly Omit<Field, 'meaning'>[],
  meanings: Readonly<Record<string, string>>,
): Field[] {
  const paths = new Set(fields.map(({ path }) => path));
  const unused = Object.keys(meanings).filter((path) => !paths.has(path));
  const missing = [...paths].filter((path) => !Object.hasOwn(meanings, path));
  if (unused.length > 0 || missing.length > 0) {
    throw new Error(
      `field-meanings.ts: missing ${missing.join(', ') || 'none'}; unknown ${unused.join(', ') || 'none'}`,
    );
  }
  return fields.map((field) => ({ ...field, meaning: meanings[field.path] ?? '' }));
}
