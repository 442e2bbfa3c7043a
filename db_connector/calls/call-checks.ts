import type { ApiRequest } from '../client/attempt.ts';
import type { ConnectorErrorCode } from '../protocol/errors.ts';
import { isNamespace, isTable } from '../protocol/identifiers.ts';
import { DEFAULT_MAX_PAYLOAD_CHARS, MAX_IDEMPOTENCY_KEY_LENGTH } from '../protocol/limits.ts';
import { OPERATIONS } from '../protocol/operations.ts';

/** A checked call: read and allowed. */
export interface CheckedCall extends ApiRequest {
  readonly operation: string;
  /** Whether a second time does no harm. */
  readonly isRepeatable: boolean;
  /** null for `health`. */
  readonly namespace: string | null;
  /** Only for what is said of it on the console. */
  readonly table: string | null;
  /** As in `OPERATIONS`. */
  readonly waitsForOthers: boolean;
  /** As in `OPERATIONS`. */
  readonly isRead: boolean;
}

/** `<code>: <message>` of a ticket that is not accepted. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: ConnectorErrorCode;
  readonly reason: string;

  constructor(code: ConnectorErrorCode, reason: string) {
    super(`${code}: ${reason}`);
    this.code = code;
    this.reason = reason;
  }
}

interface Route {
  readonly path: string;
  readonly timeoutMs: number | null;
  readonly isRetried: boolean;
  readonly hasNamespace: boolean;
  readonly waitsForOthers: boolean;
  readonly isRead: boolean;
}

const ROUTES: ReadonlyMap<string, Route> = new Map(
  Object.entries(OPERATIONS).map(([name, { path, timeoutMs, retry, namespace, waitsForOthers, isRead }]) => [
    name,
    { path, timeoutMs, isRetried: retry === 'always', hasNamespace: namespace, waitsForOthers, isRead },
  ]),
);

/**
 * The checks of Call, of the texts of its record (null: unreadable, with what `problem` says), from the record to the allowed namespaces, in the contract's order (section 8).
 *
 * @throws Refusal
 */
export function checkCall(
  texts: readonly string[] | null,
  isTooLong: boolean,
  namespaces: ReadonlySet<string>,
  problem = 'expected a record of two well-formed texts, Operation and Json',
): CheckedCall {
  if (isTooLong) {
    throw tooLarge();
  }
  const [operation, payload] = texts ?? [];
  if (operation === undefined || payload === undefined) {
    throw new Refusal('invalid_request', problem);
  }
  const route = ROUTES.get(operation);
  if (route === undefined) {
    throw new Refusal('unknown_operation', `expected one of ${[...ROUTES.keys()].join(', ')}`);
  }
  if (payload.length > DEFAULT_MAX_PAYLOAD_CHARS) {
    throw tooLarge();
  }
  const content = parseObject(payload);
  return {
    operation,
    path: route.path,
    payload,
    timeoutMs: route.timeoutMs,
    isRepeatable: route.isRetried || isIdempotencyKey(content.idempotencyKey),
    namespace: route.hasNamespace ? checkNamespace(content.namespace, namespaces) : null,
    table: typeof content.table === 'string' && isTable(content.table) ? content.table : null,
    waitsForOthers: route.waitsForOthers,
    isRead: route.isRead,
  };
}

function tooLarge(): Refusal {
  return new Refusal('payload_too_large', `Json may hold ${DEFAULT_MAX_PAYLOAD_CHARS} characters`);
}

/** Only its form is looked at: the API reads it with its own, stricter reader. */
function parseObject(payload: string): Record<string, unknown> {
  try {
    const content: unknown = JSON.parse(payload);
    if (isRecord(content)) {
      return content;
    }
  } catch {
    // Falls through: text that is no JSON is refused like JSON that is no object.
  }
  throw new Refusal('invalid_request', 'Json is not a JSON object');
}

function isRecord(content: unknown): content is Record<string, unknown> {
  return typeof content === 'object' && content !== null && !Array.isArray(content);
}

/** @throws Refusal */
export function checkNamespace(namespace: unknown, allowed: ReadonlySet<string>): string {
  if (typeof namespace !== 'string' || !isNamespace(namespace)) {
    throw new Refusal('invalid_identifier', 'namespace is missing or not a valid name');
  }
  if (!allowed.has(namespace) && !allowed.has('*')) {
    throw new Refusal('namespace_not_allowed', `${namespace} is not in the list of namespaces of database.json`);
  }
  return namespace;
}

function isIdempotencyKey(key: unknown): boolean {
  return typeof key === 'string' && key.length >= 1 && key.length <= MAX_IDEMPOTENCY_KEY_LENGTH;
}
