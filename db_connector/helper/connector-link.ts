import { MAX_TAKEN_CHARS } from '../protocol/limits.ts';
import { packTexts, unpackBytes, unpackTexts } from '../protocol/packed-texts.ts';
import type { DatabaseHost } from './host.ts';
import { type DbResult, type DbTicket, errorResult, refusedTicket } from './result.ts';
import type { Call } from './waiting-calls.ts';

/** Records of one `CallMany` or `TakeMany`. */
export const MAX_RECORDS = 512;
/** State, Status and Code of nearly every result. */
const SUCCESS = 'ok 200 ';
const NO_TICKET = refusedTicket('internal', 'the connector answered with no ticket');

/**
 * Exports of connectors, as one bundle calls them: calls and ids packed. A connector that has no exports for lists is called record
 * by record: a game server may run an older one until its bundle starts again.
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
    if (this.#withoutLists.has(connector)) return this.#sendEach(connector, calls);
    try {
      const questions = packTexts(questionsOf(calls));
      return ticketsIn(this.#host.exports.call(connector, 'CallMany', questions), calls.length);
    } catch (error) {
      return isMissing(error) ? this.#sendEach(connector, calls) : calls.map(() => unavailable(connector, error));
    }
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
    this.#withoutLists.add(connector);
    return tickets;
  }

  /**
   * A result for each id, in order, at most `MAX_RECORDS`; null while it is not there, undefined if it was not asked for: the
   * results before it were enough for one copy. Never throws.
   */
  take(connector: string, ids: readonly string[]): (DbResult | null | undefined)[] {
    if (this.#withoutLists.has(connector)) return this.#takeEach(connector, ids);
    try {
      return resultsIn(connector, ids, this.#host.exports.call(connector, 'TakeMany', packTexts(ids)));
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

/** Operation and Json of each call. Plain loops, as below: most calls of a server run before V8 has optimised patterns of lists away. */
function questionsOf(calls: readonly Call[]): string[] {
  const texts: string[] = [];
  for (let index = 0; index < calls.length; index += 1) {
    const call = calls[index] as Call;
    texts.push(call.operation, call.json);
  }
  return texts;
}

/** Id and Error of each ticket. */
function ticketsIn(reply: unknown, count: number): DbTicket[] {
  const texts = typeof reply === 'string' ? unpackTexts(reply) : null;
  const tickets: DbTicket[] = [];
  for (let at = 0; at < 2 * count; at += 2) {
    const Id = texts?.[at];
    const refusal = texts?.[at + 1];
    const isThere = Id !== undefined && refusal !== undefined;
    tickets.push(isThere ? { Id, Accepted: refusal === '', Error: refusal } : NO_TICKET);
  }
  return tickets;
}

/** State, Status and Code of each result in one text, then its Json; packed as bytes, or a list if the host does not copy texts. */
function resultsIn(connector: string, ids: readonly string[], reply: unknown): (DbResult | null | undefined)[] {
  const texts: readonly string[] | null = isBytes(reply) ? unpackBytes(bufferOf(reply)) : listOfTexts(reply);
  const results: (DbResult | null | undefined)[] = [];
  let chars = 0;
  for (let index = 0; index < ids.length; index += 1) {
    const result = resultOf(connector, ids[index] as string, texts?.[2 * index], texts?.[2 * index + 1]);
    if (result !== null) chars += result.Json.length;
    results.push(result === null && chars >= MAX_TAKEN_CHARS ? undefined : result);
  }
  return results;
}

function resultOf(connector: string, id: string, head: string | undefined, Json: string | undefined): DbResult | null {
  if (head === SUCCESS && Json !== undefined) return { Id: id, State: 'ok', Status: 200, Code: '', Json };
  const [State, Status, Code] = head?.split(' ') ?? [];
  return resultIn(connector, id, { Id: id, State, Status: Number(Status), Code, Json });
}

function listOfTexts(reply: unknown): string[] | null {
  return Array.isArray(reply) && reply.every((text) => typeof text === 'string') ? reply : null;
}

function resultIn(connector: string, id: string, taken: unknown): DbResult | null {
  const state = typeof taken === 'object' && taken !== null && 'State' in taken ? taken.State : undefined;
  if (state === 'pending') return null;
  return isResult(taken) ? taken : forgotten(connector, id);
}

function ticketIn(given: unknown): DbTicket {
  return isTicket(given) ? given : NO_TICKET;
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

function bufferOf(bytes: Bytes): Buffer {
  return ArrayBuffer.isView(bytes) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) : Buffer.from(bytes);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
