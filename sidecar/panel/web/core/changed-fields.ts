/** Fields of a form that differ from what was read. Only these are sent, so that a change of another account is not undone. */
export function changedFields<T extends object>(read: T, written: T): Partial<T> {
  const names = Object.keys(written) as (keyof T)[];
  const changed = names.filter((name) => JSON.stringify(read[name]) !== JSON.stringify(written[name]));
  return Object.fromEntries(changed.map((name) => [name, written[name]])) as Partial<T>;
}

/** Names that somebody wrote with commas, spaces or lines between them. */
export function namesOf(text: string): readonly string[] {
  return [...new Set(text.split(/[\s,]+/).filter((name) => name !== ''))];
}
