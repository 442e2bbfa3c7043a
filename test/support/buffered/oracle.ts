/**
 * State that the database must have, or may have, after the calls on a buffered namespace. It knows the calls, their
 * answers and their times, and nothing of how they are done.
 */

export const NAMESPACE = 'stats';

const column = (name: string, type: string, options: object = {}) => ({ name, type, ...options });

export const TABLES = [
  // No key: what is applied twice is there twice, and rows are read in the order in which they came.
  { name: 'events', columns: [column('tag', 'string', { length: 40 }), column('part', 'int32')] },
  {
    name: 'counters',
    primaryKey: ['id'],
    columns: [column('id', 'string', { length: 40 }), column('writer', 'int32'), column('n', 'int64', { default: 0 })],
  },
  {
    name: 'latest',
    primaryKey: ['id'],
    columns: [
      column('id', 'string', { length: 40 }),
      column('seq', 'int64'),
      column('note', 'text', { nullable: true }),
    ],
  },
];

/** Action of a call. Every writer has rows of its own, and calls one after another. */
export type Action =
  /** Inserts so many rows of one tag. */
  | { readonly kind: 'event'; readonly tag: string; readonly parts: number }
  /** Adds 1 to both counters of the writer. */
  | { readonly kind: 'increment' }
  /** The writer's row of `latest`, there or not, holds the call's number. */
  | { readonly kind: 'set' }
  /** Deletes it. */
  | { readonly kind: 'remove' }
  /** Changes its note, live, and so must be told whether it is there. */
  | { readonly kind: 'note' };

export interface Call {
  readonly writer: number;
  /** Number among this writer's calls, from 1. */
  readonly number: number;
  readonly action: Action;
  readonly operation: 'insert' | 'update' | 'upsert' | 'delete';
  readonly payload: string;
  readonly key: string | null;
  readonly isImmediate: boolean;
  /** `performance.now()` of the first attempt. */
  readonly sentMs: number;
  /** Time of the first acknowledgement; infinity if there was none. */
  acknowledgedMs: number;
  /** `refused`: an answer said that it is not done and never will be. */
  outcome: 'acknowledged' | 'refused' | 'unknown';
  /** Payload text of the first acknowledgement. */
  answer: string;
}

export interface StoredState {
  /** In the order of insertion. */
  readonly events: readonly { readonly tag: string; readonly part: number }[];
  readonly counters: readonly { readonly writer: number; readonly n: number }[];
  readonly latest: readonly { readonly id: string; readonly seq: number }[];
}

/** The writer's row of `latest`: its number, or null if it is not there. */
type Latest = number | null;

export const latestId = (writer: number): string => `writer-${writer}`;

export class Oracle {
  readonly calls: Call[] = [];
  /** Seen while the calls were made. */
  readonly problems: string[] = [];
  readonly #queuedIds = new Map<string, string>();
  /** Possible present states of each writer's row. */
  readonly #latest = new Map<number, Set<Latest>>();
  readonly #writers: number;

  constructor(writers: number) {
    this.#writers = writers;
  }

  possibleLatest(writer: number): ReadonlySet<Latest> {
    return this.#latest.get(writer) ?? new Set([null]);
  }

  /** Once for each call, when no more is to be learned of it. */
  settle(call: Call): void {
    this.calls.push(call);
    if (lastOf(call, call.writer).length === 0 || call.outcome === 'refused') return;
    const before = call.outcome === 'unknown' ? this.possibleLatest(call.writer) : [];
    this.#latest.set(call.writer, new Set([...before, ...lastOf(call, call.writer)]));
  }

  /** An acknowledgement of a queued write, as the specification shows it; no id comes twice but for the same key. */
  checkAcknowledgement(call: Call, text: string): void {
    const { queued, id, pending } = JSON.parse(text) as Record<string, unknown>;
    const isShaped = queued === true && typeof id === 'string' && id !== '' && Number(pending) >= 1;
    if (!isShaped) this.problems.push(`${nameOf(call)}: not an acknowledgement: ${text}`);
    const first = this.#queuedIds.get(`${id}`);
    const own = call.key ?? nameOf(call);
    if (first !== undefined && first !== own) this.problems.push(`${nameOf(call)}: has the id of ${first}`);
    this.#queuedIds.set(`${id}`, own);
  }

  /** Faults of the database in words; empty if all is well. `open` calls may be settled later. */
  judge(state: StoredState, open: readonly Call[] = []): string[] {
    const calls = [...this.calls, ...open];
    return [
      ...judgeEvents(state.events, calls),
      ...this.#judgeCounters(state.counters, calls),
      ...this.#judgeLatest(state.latest, open),
    ];
  }

  #judgeCounters(rows: StoredState['counters'], calls: readonly Call[]): string[] {
    const problems: string[] = [];
    for (let writer = 0; writer < this.#writers; writer += 1) {
      const own = calls.filter((call) => call.writer === writer && call.action.kind === 'increment');
      const least = own.filter((call) => call.outcome === 'acknowledged').length;
      const most = least + own.filter((call) => call.outcome === 'unknown').length;
      const values = rows.filter((row) => row.writer === writer).map((row) => row.n);
      const isRight =
        values.length === 2 && values[0] === values[1] && Number(values[0]) >= least && Number(values[0]) <= most;
      if (!isRight) problems.push(`counters of writer ${writer} are ${values}, expected two of ${least} to ${most}`);
    }
    return problems;
  }

  #judgeLatest(rows: StoredState['latest'], open: readonly Call[]): string[] {
    const problems: string[] = [];
    for (let writer = 0; writer < this.#writers; writer += 1) {
      const seq = rows.find((row) => row.id === latestId(writer))?.seq ?? null;
      const possible = new Set([...this.possibleLatest(writer), ...open.flatMap((call) => lastOf(call, writer))]);
      if (!possible.has(seq)) problems.push(`latest of writer ${writer} is ${seq}, expected one of ${[...possible]}`);
    }
    return problems;
  }
}

export function nameOf(call: Pick<Call, 'writer' | 'number' | 'action'>): string {
  return `${call.action.kind} ${call.writer}-${call.number}`;
}

function judgeEvents(rows: StoredState['events'], calls: readonly Call[]): string[] {
  const stored = new Map<string, number[]>();
  for (const { tag, part } of rows) {
    const parts = stored.get(tag);
    if (parts === undefined) stored.set(tag, [part]);
    else parts.push(part);
  }
  const asked = new Map<string, Call>();
  for (const call of calls) if (call.action.kind === 'event') asked.set(call.action.tag, call);
  const problems: string[] = [];
  const inOrder: Call[] = [];
  for (const [tag, parts] of stored) {
    const call = asked.get(tag);
    if (call === undefined || call.outcome === 'refused') problems.push(`event ${tag} was never accepted`);
    else if (!isWhole(parts, call)) problems.push(`event ${tag} has the parts ${parts}`);
    if (call !== undefined) inOrder.push(call);
  }
  for (const [tag, call] of asked) {
    if (call.outcome === 'acknowledged' && !stored.has(tag)) problems.push(`event ${tag} was acknowledged and is lost`);
  }
  return [...problems, ...judgeOrder(inOrder)];
}

/** The writer's row of `latest` after the call, if the call is about that row. */
function lastOf({ action, number, writer }: Call, ofWriter: number): Latest[] {
  if (writer !== ofWriter) return [];
  if (action.kind === 'set') return [number];
  return action.kind === 'remove' ? [null] : [];
}

/** Every part once and in order. */
function isWhole(parts: readonly number[], { action }: Call): boolean {
  return action.kind === 'event' && parts.length === action.parts && parts.every((part, i) => part === i);
}

/** None stands before another that was acknowledged before it was sent. */
function judgeOrder(places: readonly Call[]): string[] {
  const problems: string[] = [];
  let earliest: Call | null = null;
  for (const call of [...places].reverse()) {
    if (earliest !== null && earliest.acknowledgedMs < call.sentMs) {
      problems.push(`${nameOf(call)} was sent after ${nameOf(earliest)} was acknowledged, and stands before it`);
    }
    if (earliest === null || call.acknowledgedMs < earliest.acknowledgedMs) earliest = call;
  }
  return problems;
}
