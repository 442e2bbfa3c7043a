import type { JsonError } from './json-value.ts';

/**
 * Where a hand-written JSON text is wrong and, if it can be guessed, why: `line 1, column 29: not valid JSON (an extra
 * comma?)`. Never shows the text itself: a secret may be in it.
 */
export function describeJsonFault(text: string, error: JsonError): string {
  const before = text.slice(0, error.position);
  const line = before.split('\n').length;
  const column = before.length - before.lastIndexOf('\n');
  return `line ${line}, column ${column}: ${faultOf(text, error)}`;
}

function faultOf(text: string, error: JsonError): string {
  if (error.kind === 'duplicate') return 'a property that is already there';
  const hint = hintOf(text, error.position);
  return hint === null ? 'not valid JSON' : `not valid JSON (${hint})`;
}

/** The faults of people who write JSON by hand. */
function hintOf(text: string, position: number): string | null {
  const next = text[position] ?? '';
  const last = text.slice(0, position).trimEnd().at(-1) ?? '';
  if (next === '') return 'the end is missing: a } or a ]?';
  if (last === ',' && (next === '}' || next === ']')) return 'an extra comma?';
  if (next === '/' || next === '#') return 'comments are not allowed';
  if (next === "'") return 'use double quotes';
  if (last === '\\' || next === '\\') return 'write \\\\ for one \\, or use /';
  if (next === '"' && /["}\]\w]/.test(last)) return 'a missing comma?';
  return null;
}
