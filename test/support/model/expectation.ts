import type { ModelAnswer } from './run-program.ts';

/** A code, and the operation of a batch that is named with it. */
export interface Refusal {
  readonly code: string;
  readonly index: number | null;
}

/** With `count`, the rows that were affected or inserted. After ids that were unknown are learnt the text is exactly this. */
export interface Done {
  readonly text: () => string;
  readonly count: number;
}

/** Right answer to a step: any of the refusals, exactly this payload, or each result of a batch. */
export type Expectation =
  | { readonly refusals: readonly Refusal[] }
  | Done
  | { readonly results: readonly (Done | { readonly refusals: readonly Refusal[] })[] };

export const refused = (codes: Iterable<string>): { readonly refusals: readonly Refusal[] } => ({
  refusals: [...codes].map((code) => ({ code, index: null })),
});

const STATUS_OF: Readonly<Record<string, number>> = {
  invalid_request: 400,
  invalid_filter: 400,
  invalid_sort: 400,
  unknown_column: 400,
  missing_value: 400,
  invalid_value: 400,
  value_too_long: 400,
  constraint_violation: 409,
  expectation_failed: 409,
  unsupported_operation: 409,
  too_many_rows: 413,
  idempotency_conflict: 422,
};

const FAILED_RESULT = /\{"error":\{"code":"(\w+)","message":"(?:[^"\\]|\\.)+"\}\}/y;

/** Expected answer as text if the given answer is wrong; null if it is right. */
export function contradiction(expectation: Expectation, answer: ModelAnswer): string | null {
  if ('refusals' in expectation) return refusalContradiction(expectation.refusals, answer);
  if ('results' in expectation) return resultsContradiction(expectation.results, answer);
  const expected = expectation.text();
  return answer.status === 200 && answer.text === expected ? null : expected;
}

function refusalContradiction(refusals: readonly Refusal[], { status, code, text }: ModelAnswer): string | null {
  const index = code === '' || text === '' ? null : indexIn(text);
  const isRight = refusals.some((refusal) => refusal.code === code && refusal.index === index);
  if (isRight && status === STATUS_OF[code]) return null;
  return refusals
    .map((refusal) => `${refusal.code}${refusal.index === null ? '' : ` of ${refusal.index}`}`)
    .join(' or ');
}

function indexIn(text: string): number | null {
  return (JSON.parse(text) as { error: { index?: number } }).error.index ?? null;
}

type Result = Extract<Expectation, { results: unknown }>['results'][number];

/** Digit for digit, but for messages. */
function resultsContradiction(results: readonly Result[], { status, text }: ModelAnswer): string | null {
  const expected = results.map((result) =>
    'text' in result ? result.text() : `error ${codesOf(result).join(' or ')}`,
  );
  const whole = `{"results":[${expected}]}`;
  const start = '{"results":[';
  if (status !== 200 || !text.startsWith(start)) return whole;
  let at = start.length;
  for (const [i, result] of results.entries()) {
    if (i > 0 && text[at++] !== ',') return whole;
    const length = 'text' in result ? textLength(text, at, result.text()) : errorLength(text, at, codesOf(result));
    if (length === null) return whole;
    at += length;
  }
  return text.slice(at) === ']}' ? null : whole;
}

const codesOf = ({ refusals }: { readonly refusals: readonly Refusal[] }) => refusals.map(({ code }) => code);

function textLength(text: string, at: number, expected: string): number | null {
  return text.startsWith(expected, at) ? expected.length : null;
}

function errorLength(text: string, at: number, codes: readonly string[]): number | null {
  FAILED_RESULT.lastIndex = at;
  const found = FAILED_RESULT.exec(text);
  return found !== null && codes.includes(found[1] as string) ? found[0].length : null;
}
