import { PanelError } from '../panel-error.ts';

/** A whole number of the query, within its bounds; null if it is absent. @throws PanelError diagnostics.query */
export function integerOf(
  query: URLSearchParams,
  field: string,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): number | null {
  const text = query.get(field);
  if (text === null) return null;
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new PanelError('diagnostics.query', { field });
}

/** @throws PanelError diagnostics.query if it is longer than `maxChars` */
export function textOf(query: URLSearchParams, field: string, maxChars: number): string {
  const text = query.get(field) ?? '';
  if (text.length > maxChars) throw new PanelError('diagnostics.query', { field });
  return text;
}
