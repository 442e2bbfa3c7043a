import { changesNumbers } from '../protocol/json.ts';
import { hasLongNumber } from './has-long-number.ts';
import { jsonText } from './json-text.ts';
import type { DbResult, PageResult } from './result.ts';
import type { DbValue } from './typed-rows.ts';

type Body = Readonly<Record<string, unknown>>;

/**
 * Key of what was read of a result: results are read more than once (`Rows`, then `HasMore`). No `WeakMap`: once its table is old,
 * the collector of young objects takes all values in it for alive, promotes them, and the whole heap has to be collected for them.
 */
const BODY = Symbol('body');

/** The object in a result's text; an empty one if there is none. */
function bodyOf(result: DbResult & { readonly [BODY]?: Body }): Body {
  const known = result[BODY];
  if (known !== undefined) return known;
  const body = readBody(result.Json);
  withBody(result, body);
  return body;
}

/** A result whose readers find this body, whatever its text says. Nothing that lists its properties shows it. */
export function withBody<R extends DbResult>(result: R, body: Body): R {
  // A frozen result is read again each time.
  Reflect.defineProperty(result, BODY, { value: body, configurable: true });
  return result;
}

function readBody(text: string): Body {
  try {
    const body = readJson(text);
    return typeof body === 'object' && body !== null ? (body as Body) : {};
  } catch {
    return {};
  }
}

function okBody(result: DbResult): Body {
  return result.State === 'ok' ? bodyOf(result) : {};
}

export function readRows<T extends object>(result: DbResult): T[] {
  const { rows } = okBody(result);
  return Array.isArray(rows) ? rows : [];
}

export function readHasMore(result: DbResult): boolean {
  return okBody(result).hasMore === true;
}

/** The result of a page, which tells whether the sidecar's cap cut it short. Without a limit there is nothing to cut. */
export function pageResult({ Id, State, Status, Code, Json }: DbResult, limit: number | undefined): PageResult {
  const result = { Id, State, Status, Code, Json, Capped: false };
  if (typeof limit === 'number') result.Capped = readHasMore(result) && readRows(result).length < limit;
  return result;
}

export function readNumber(result: DbResult): number {
  const { count, affected, inserted } = okBody(result);
  const number = count ?? affected ?? inserted;
  return typeof number === 'number' ? number : 0;
}

export function readInsertedIds(result: DbResult): DbValue[] {
  const { ids } = okBody(result);
  return Array.isArray(ids) ? ids : [];
}

export function readIsQueued(result: DbResult): boolean {
  return okBody(result).queued === true;
}

/** Answer of a `Flush`. */
export interface Flushed {
  /** Whether the owner buffers the namespace at all. */
  readonly enabled: boolean;
  /** Writes that the flush brought to the database, without dead letters. */
  readonly flushed: number;
  /** Writes that can never succeed, and were put aside. */
  readonly deadLettered: number;
  /** Writes that still wait: the flush did not get through. */
  readonly remaining: number;
  /** The queue stands, since the database does not take its writes; it goes on by itself. */
  readonly halted: boolean;
}

export function readFlushed(result: DbResult): Flushed {
  const { enabled, flushed, deadLettered, remaining, halted } = okBody(result);
  const count = (value: unknown): number => (typeof value === 'number' ? value : 0);
  return {
    enabled: enabled === true,
    flushed: count(flushed),
    deadLettered: count(deadLettered),
    remaining: count(remaining),
    halted: halted === true,
  };
}

/** The results of a batch, each as that of an operation by itself; none after an error, or if the batch waits. */
export function readResults(result: DbResult): DbResult[] {
  const { results } = okBody(result);
  return Array.isArray(results) ? results.map((body: unknown) => partOf(result, body)) : [];
}

function partOf({ Id, Status }: DbResult, body: unknown): DbResult {
  const content = typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>) : {};
  const error: unknown = content.error;
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  const part = {
    Id,
    State: code === '' ? 'ok' : 'error',
    Status,
    Code: code,
    Json: jsonText(content, 'result'),
  } as const;
  return withBody(part, content);
}

/**
 * Index of the operation of a batch, counted from 0, that its error is about; undefined if there is no error, or it is
 * about none.
 */
export function readFailedIndex(result: DbResult): number | undefined {
  if (result.State === 'ok') return undefined;
  const { error } = bodyOf(result);
  const index: unknown = typeof error === 'object' && error !== null && 'index' in error ? error.index : undefined;
  return typeof index === 'number' ? index : undefined;
}

export function readErrorMessage(result: DbResult): string {
  if (result.State === 'ok') return '';
  const { error } = bodyOf(result);
  const message: unknown =
    typeof error === 'object' && error !== null && 'message' in error ? error.message : undefined;
  return typeof message === 'string' && message !== '' ? `${result.Code}: ${message}` : result.Code;
}

const FAR_EXPONENT = /\d[eE][+-]?\d{3}/;
/** Never misses a number of 16 digits or more, or one with an exponent; what it finds may stand inside a string. */
const MAY_NEED_CARE = /[[:,]\s*(-?(?:[0-9.]{16}[0-9.]*(?:[eE][+-]?\d+)?|[0-9.]+[eE][+-]?\d+))/g;
const LONG_INTEGER = /^-?\d{16,}$/;

/**
 * An answer's text as values: native if that is exact; else integers past 2^53 become BigInt, and other numbers that a
 * double would change stay text. Throws `SyntaxError` on text that is no JSON.
 * The careful reader takes five times as long as the native one, so it reads only what has a number that needs it:
 * coordinates have 17 digits and need none.
 */
function readJson(text: string): unknown {
  // A quick first look: a number that a double changes has many digits or a far exponent.
  if (!hasLongNumber(text) && !FAR_EXPONENT.test(text)) return JSON.parse(text);
  MAY_NEED_CARE.lastIndex = 0;
  for (let match = MAY_NEED_CARE.exec(text); match !== null; match = MAY_NEED_CARE.exec(text)) {
    if (needsCare(match[1] ?? '')) return JSON.parse(text, keepDigits);
  }
  return JSON.parse(text);
}

/** A fraction that a double writes in the same digits is the first case, since it is the common and the cheap one. */
function needsCare(digits: string): boolean {
  if (digits.includes('.') && String(Number(digits)) === digits) return false;
  return isBigInteger(digits) || changesNumbers(digits);
}

/** A double may hold an integer past 2^53 exactly; it becomes a BigInt all the same, so that a column has one type. */
function isBigInteger(digits: string): boolean {
  if (!LONG_INTEGER.test(digits)) return false;
  return Math.abs(Number(digits)) > 2 ** 53 || BigInt(digits) !== BigInt(Number(digits));
}

/** TypeScript's library does not name the third argument yet; Node.js has it from version 21. */
function keepDigits(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined) return value;
  if (isBigInteger(source)) return BigInt(source);
  return changesNumbers(source) ? source : value;
}
