import type { MessagePort } from 'node:worker_threads';
import type { Attempt } from '../client/attempt.ts';
import type { Outcome } from '../client/outcome.ts';
import type { Transport } from '../client/transport.ts';
import type { DatabaseConfig } from '../config/database-config.ts';
import type { ServerTiming } from '../protocol/server-timing.ts';

/** A field of a record in a flat list: each text crosses as it is, and no object is made for a call. */
export type Field = string | number | boolean | null;

/** From the game's thread to the worker. */
export type Order =
  | {
      /** First of all. The key comes by this message alone: arguments, environment and `workerData` are visible. */
      readonly kind: 'open';
      readonly config: DatabaseConfig;
      readonly ca: string | null;
      readonly key: Uint8Array;
      /** For lists of ends, `END_FIELDS` fields each: the game's thread reads them when a script collects results. */
      readonly ends: MessagePort;
      /** Shared: how many of those lists were read. */
      readonly read: Int32Array;
    }
  /** Attempts of one tick, `CALL_FIELDS` fields each. */
  | { readonly kind: 'calls'; readonly fields: readonly Field[] }
  /** The attempt is ended without waiting for an answer. Its end is reported, and means nothing any more. */
  | { readonly kind: 'abandon'; readonly id: number }
  | { readonly kind: 'probe'; readonly id: number; readonly address: number }
  /** Calls go to this address from now on; the first from the beginning. */
  | { readonly kind: 'choose'; readonly address: number }
  | { readonly kind: 'ping' };

/** From the worker to the game's thread. */
export type Report =
  /** Ends wait to be read, and no script has collected results for a while, or calls may wait for their places. */
  | { readonly kind: 'ended' }
  /** A fault of the connector itself in place of an end. */
  | { readonly kind: 'fault'; readonly id: number; readonly problem: string }
  | { readonly kind: 'probed'; readonly id: number; readonly seconds: number }
  | { readonly kind: 'notProbed'; readonly id: number; readonly reason: string }
  | { readonly kind: 'transport'; readonly address: number; readonly name: Transport['name'] }
  | { readonly kind: 'pong' };

export const CALL_FIELDS = 7;
export const END_FIELDS = 6;

/** @param address place in the list of addresses */
export function pushCall(
  fields: Field[],
  id: number,
  address: number,
  { path, payload, isLong, ts, timeoutMs }: Attempt,
): void {
  fields.push(id, path, payload, isLong, ts, timeoutMs, address);
}

/** The call that begins at a place of the list. */
export function callAt(fields: readonly Field[], at: number) {
  return {
    id: fields[at] as number,
    path: fields[at + 1] as string,
    payload: fields[at + 2] as string,
    isLong: fields[at + 3] as boolean,
    ts: fields[at + 4] as number,
    timeoutMs: fields[at + 5] as number,
    address: fields[at + 6] as number,
  };
}

export function pushEnd(
  fields: Field[],
  id: number,
  outcome: Outcome,
  tookMs: number,
  told: ServerTiming | null,
): void {
  const isUsual = isSuccess(outcome);
  fields.push(id, isUsual ? outcome.result.json : JSON.stringify(outcome), isUsual);
  fields.push(tookMs, told?.totalMs ?? null, told?.databaseMs ?? null);
}

/** The end that begins at a place of the list. */
export function endAt(fields: readonly Field[], at: number) {
  const [text, isUsual] = [fields[at + 1] as string, fields[at + 2] as boolean];
  const [totalMs, databaseMs] = [fields[at + 4], fields[at + 5]];
  return {
    id: fields[at] as number,
    outcome: isUsual ? successOf(text) : (JSON.parse(text) as Outcome),
    tookMs: fields[at + 3] as number,
    told: totalMs === null ? null : { totalMs: totalMs as number, databaseMs: databaseMs as number },
  };
}

/** Nearly every outcome: only its text crosses. */
function successOf(json: string): Outcome {
  return {
    result: { state: 'ok', status: 200, code: '', json },
    transport: 'success',
    next: 'nothing',
    retryAfterMs: null,
  };
}

function isSuccess({ result, transport, next, retryAfterMs }: Outcome): boolean {
  const { state, status, code } = result;
  const isPlain = state === 'ok' && status === 200 && code === '';
  return isPlain && transport === 'success' && next === 'nothing' && retryAfterMs === null;
}
