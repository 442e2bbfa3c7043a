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
  /** Ends of attempts, `END_FIELDS` fields each. */
  | { readonly kind: 'ends'; readonly fields: readonly Field[] }
  /** A fault of the connector itself in place of an end. */
  | { readonly kind: 'fault'; readonly id: number; readonly problem: string }
  | { readonly kind: 'probed'; readonly id: number; readonly seconds: number }
  | { readonly kind: 'notProbed'; readonly id: number; readonly reason: string }
  | { readonly kind: 'transport'; readonly address: number; readonly name: Transport['name'] }
  | { readonly kind: 'pong' };

export const CALL_FIELDS = 7;
export const END_FIELDS = 11;

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
  { result, transport, next, retryAfterMs }: Outcome,
  tookMs: number,
  told: ServerTiming | null,
): void {
  fields.push(id, result.state, result.status, result.code, result.json, transport, next, retryAfterMs, tookMs);
  fields.push(told?.totalMs ?? null, told?.databaseMs ?? null);
}

/** The end that begins at a place of the list. */
export function endAt(fields: readonly Field[], at: number) {
  const [totalMs, databaseMs] = [fields[at + 9], fields[at + 10]];
  return {
    id: fields[at] as number,
    outcome: {
      result: {
        state: fields[at + 1] as Outcome['result']['state'],
        status: fields[at + 2] as number,
        code: fields[at + 3] as string,
        json: fields[at + 4] as string,
      },
      transport: fields[at + 5] as Outcome['transport'],
      next: fields[at + 6] as Outcome['next'],
      retryAfterMs: fields[at + 7] as number | null,
    },
    tookMs: fields[at + 8] as number,
    told: totalMs === null ? null : { totalMs: totalMs as number, databaseMs: databaseMs as number },
  };
}
