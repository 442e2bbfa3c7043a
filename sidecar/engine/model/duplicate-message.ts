/** Names the columns of the violated key, never values; null if the database does not tell which key it was. */
export function duplicateMessage(columns: readonly string[] | null): string {
  const what = columns === null ? 'these values' : `this ${columns.join(' and ')}`;
  return `a row with ${what} already exists`;
}
