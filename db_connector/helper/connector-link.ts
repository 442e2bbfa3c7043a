import { MAX_TAKEN_CHARS } from '../protocol/limits.ts';
import type { DatabaseHost } from './host.ts';
import { type DbResult, type DbTicket, errorResult, refusedTicket } from './result.ts';
import type { Call } from './waiting-calls.ts';

/** Records of one `CallMany` or `TakeMany`. */
export const MAX_RECORDS = 512;

/**
 * Exports of connectors, as one bundle calls them: lists of calls and of ids. A single call goes by the export for one record, and
 * so does all of a connector that has no exports for lists: a game server may run an older one until its bundle starts again.
 */
export class ConnectorLink {
  readonly #host: DatabaseHost;
  readonly #withoutLists = new Set<string>();

  constructor(host: DatabaseHost) {
    this.#host = host;
  }

  /** The bundle has started or stopped: the next one may have other exports. */
  forget(connector: string): void {
    this.#withoutLists.delete(connector);
  }

  /** A ticket for each call, in order; at most `MAX_RECORDS`. Never throws. */
  send(connector: string, calls: readonly Call[]): DbTicket[] {
    if (calls.length > 1 && !this.#withoutLists.has(connector)) {
      // Lists of fields in their order, as names cost time in the codec.
      const records = calls.map(({ operation, json }) => [operation, json]);
      try {
        const tickets = this.#host.exports.call(connector, 'CallMany', records);
        return calls.map((_, index) => ticketIn(Array.isArray(tickets) ? namedTicket(tickets[index]) : tickets));
      } catch (error) {
        if (!isMissing(error)) return calls.map(() => unavailable(connector, error));
      }
    }
    return this.#sendEach(connector, calls);
  }

  #sendEach(connector: string, calls: readonly Call[]): DbTicket[] {
    const tickets: DbTicket[] = [];
    for (const { operation, json } of calls) {
      try {
        tickets.push(ticketIn(this.#host.exports.call(connector, 'Call', { Operation: operation, Json: json })));
      } catch (error) {
        return [...tickets, ...calls.slice(tickets.length).map(() => unavailable(connector, error))];
      }
    }
    if (calls.length > 1) this.#withoutLists.add(connector);
    return tickets;
  }

  /**
   * A result for each id, in order, at most `MAX_RECORDS`; null while it is not there, undefined if it was not asked for: the
   * results before it were enough for one copy. Never throws.
   */
  take(connector: string, ids: readonly string[]): (DbResult | null | undefined)[] {
    if (this.#withoutLists.has(connector)) return this.#takeEach(connector, ids);
    try {
      const taken = this.#host.exports.call(connector, 'TakeBytes', ids);
      return resultsIn(connector, ids, listIn(taken));
    } catch (error) {
      return isMissing(error) ? this.#takeEach(connector, ids) : ids.map((id) => stopped(connector, id, error));
    }
  }

  #takeEach(connector: string, ids: readonly string[]): (DbResult | null)[] {
    const results: (DbResult | null)[] = [];
    for (const id of ids) {
      try {
        results.push(resultIn(connector, id, this.#host.exports.call(connector, 'TakeResult', { Id: id })));
      } catch (error) {
        return [...results, ...ids.slice(results.length).map((lost) => stopped(connector, lost, error))];
      }
    }
    this.#withoutLists.add(connector);
    return results;
  }
}

/** FXServer gives the only member of a list in place of the list. */
function listIn(taken: unknown): readonly unknown[] {
  return Array.isArray(taken) && (taken.length === 0 || Array.isArray(taken[0])) ? taken : [taken];
}

function namedTicket(ticket: unknown): unknown {
  if (!Array.isArray(ticket)) return ticket;
  const [Id, Accepted, reason] = ticket as unknown[];
  return { Id, Accepted, Error: reason };
}

/** A result from its fields. A long text comes as UTF-8 bytes. */
function namedResult(result: unknown): unknown {
  if (!Array.isArray(result)) return result;
  const [Id, State, Status, Code, Json] = result as unknown[];
  return { Id, State, Status, Code, Json: isBytes(Json) ? textOf(Json) : Json };
}

function resultsIn(connector: string, ids: readonly string[], taken: readonly unknown[]) {
  let chars = 0;
  return ids.map((id, index) => {
    const result = resultIn(connector, id, namedResult(taken[index]));
    if (result === null) return chars >= MAX_TAKEN_CHARS ? undefined : null;
    chars += result.Json.length;
    return result;
  });
}

function resultIn(connector: string, id: string, taken: unknown): DbResult | null {
  const state = typeof taken === 'object' && taken !== null && 'State' in taken ? taken.State : undefined;
  if (state === 'pending') return null;
  return isResult(taken) ? taken : forgotten(connector, id);
}

function ticketIn(given: unknown): DbTicket {
  return isTicket(given) ? given : refusedTicket('internal', 'the connector answered with no ticket');
}

/** Game servers say so if the bundle does not run, and if it has no export of this name. */
function isMissing(error: unknown): boolean {
  return /No such export/i.test(messageOf(error));
}

function unavailable(connector: string, error: unknown): DbTicket {
  return refusedTicket('bundle_unavailable', `${connector} is not running (${messageOf(error)})`);
}

function stopped(connector: string, id: string, error: unknown): DbResult {
  return lost(id, `${connector} has stopped (${messageOf(error)})`);
}

function forgotten(connector: string, id: string): DbResult {
  return lost(id, `${connector} no longer knows the call; was it restarted?`);
}

/** Whether the database did what was asked is not known then. */
export function lost(id: string, why: string): DbResult {
  return errorResult('bundle_unavailable', `${why}; the outcome of the call is unknown`, id);
}

function isTicket(value: unknown): value is DbTicket {
  return (
    typeof value === 'object' &&
    value !== null &&
    'Id' in value &&
    typeof value.Id === 'string' &&
    'Accepted' in value &&
    typeof value.Accepted === 'boolean' &&
    'Error' in value &&
    typeof value.Error === 'string'
  );
}

function isResult(value: unknown): value is DbResult {
  return (
    typeof value === 'object' &&
    value !== null &&
    'State' in value &&
    (value.State === 'ok' || value.State === 'error') &&
    'Code' in value &&
    typeof value.Code === 'string' &&
    'Json' in value &&
    typeof value.Json === 'string'
  );
}

type Bytes = ArrayBuffer | ArrayBufferView<ArrayBuffer>;

/** A `Uint8Array` on the standalone server, an `ArrayBuffer` on FXServer. */
function isBytes(value: unknown): value is Bytes {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
}

function textOf(bytes: Bytes): string {
  const buffer = ArrayBuffer.isView(bytes)
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : Buffer.from(bytes);
  return buffer.toString();
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
