import { setTimeout as wait } from 'node:timers/promises';
import type { Answer, SignedClient } from '../signed-client.ts';
import type { Dice } from './dice.ts';
import { type Action, type Call, latestId, NAMESPACE, nameOf, type Oracle } from './oracle.ts';

/** Codes of answers that say that nothing was done, and never will be. */
const REFUSALS: ReadonlySet<string> = new Set([
  'write_buffer_full',
  'write_buffer_halted',
  'write_buffer_unavailable',
  'database_error',
  'conflict_retry',
  'sync_in_progress',
]);
const KEYED_KEPT = 300;
const MAX_NOTE = 30_000;
const PAUSE_MS = 5;

export interface WriterOptions {
  readonly writer: number;
  readonly oracle: Oracle;
  readonly dice: Dice;
  /** Between its calls. */
  readonly pauseMs: number;
  /** Codes that answers may bear; any other is a problem. */
  readonly expectedCodes: ReadonlySet<string>;
  /** Called at each acknowledgement, with its number of writes pending; 0 of a live write. */
  onAcknowledged(pending: number): void;
  onRefused(code: string, isUnknown: boolean): void;
}

/** A client that writes rows of its own, one call after another, and reports each outcome to the oracle. */
export class Writer {
  readonly #options: WriterOptions;
  #number = 0;
  /** The last call got no answer and has a key: it is repeated until it gets one. */
  #open: Call | null = null;
  #keyed: Call[] = [];

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /** Acknowledged calls with a key, the newest last. */
  get keyed(): readonly Call[] {
    return this.#keyed;
  }

  /** A call that is to be repeated, or none. */
  get open(): readonly Call[] {
    return this.#open === null ? [] : [this.#open];
  }

  /** Until `isOver`, or nobody answers any more. */
  async run(client: SignedClient, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const call = this.#open ?? this.#next();
      if (!(await this.#make(client, call))) return;
    }
  }

  /** The open call has no more chance. */
  giveUp(): void {
    if (this.#open !== null) this.#options.oracle.settle(this.#open);
    this.#open = null;
  }

  /** False where no answer came. */
  async #make(client: SignedClient, call: Call): Promise<boolean> {
    const { dice } = this.#options;
    const twin = call.key !== null && dice.chance(5) ? attempt(client, call) : null;
    const [answer, second] = await Promise.all([attempt(client, call), twin]);
    const isDone = answer?.ok === true || second?.ok === true;
    if (answer?.ok && second?.ok && answer.text !== second.text) this.#say(call, 'twins were answered differently');
    if (isDone) this.#acknowledge(call, (answer?.ok ? answer : second) as Answer);
    else if (answer === null || twin !== null) this.#leaveOpen(call);
    else this.#refuse(call, answer);
    // A client that is refused does not come back at once.
    const pauseMs = this.#options.pauseMs + (isDone ? 0 : PAUSE_MS);
    if (pauseMs > 0) await wait(pauseMs);
    return answer !== null;
  }

  #acknowledge(call: Call, answer: Answer): void {
    const { oracle, onAcknowledged } = this.#options;
    call.acknowledgedMs = performance.now();
    call.outcome = 'acknowledged';
    call.answer = answer.text;
    if (!answer.isVerified) this.#say(call, 'the answer is not signed');
    if (call.isImmediate) this.#checkLive(call, answer);
    else oracle.checkAcknowledgement(call, answer.text);
    this.#open = null;
    if (call.key !== null) this.#keyed = [...this.#keyed.slice(1 - KEYED_KEPT), call];
    oracle.settle(call);
    onAcknowledged(Number(answer.result.pending ?? 0));
  }

  /** A live write is done after all that was queued before: it finds the writer's row, or finds it gone. */
  #checkLive(call: Call, answer: Answer): void {
    const { oracle, writer } = this.#options;
    if (call.action.kind !== 'note') return;
    const possible = [...oracle.possibleLatest(writer)].map((seq) => (seq === null ? 0 : 1));
    if (!possible.some((affected) => affected === answer.result.affected)) {
      this.#say(call, `affected ${answer.result.affected}, expected ${possible}`);
    }
  }

  #refuse(call: Call, { code, message, text }: Answer): void {
    if (!this.#options.expectedCodes.has(code)) this.#say(call, text);
    // A repeated key reveals the outcome of its call; a call without a key stays unknown.
    const isUnknown = !REFUSALS.has(code) || message.includes('unknown');
    this.#options.onRefused(code, isUnknown);
    if (isUnknown) this.#leaveOpen(call);
    else this.#settleAs(call, 'refused');
  }

  #leaveOpen(call: Call): void {
    if (call.key === null) this.#settleAs(call, 'unknown');
    else this.#open = call;
  }

  /** A call that was once without an answer stays unknown, whatever was said of it later. */
  #settleAs(call: Call, outcome: 'refused' | 'unknown'): void {
    call.outcome = this.#open === call ? 'unknown' : outcome;
    this.#open = null;
    this.#options.oracle.settle(call);
  }

  #say(call: Call, problem: string): void {
    this.#options.oracle.problems.push(`${nameOf(call)}: ${problem}`);
  }

  #next(): Call {
    const { dice, writer } = this.#options;
    this.#number += 1;
    const number = this.#number;
    const isImmediate = dice.chance(4);
    const action = isImmediate ? this.#liveAction(number) : this.#queuedAction(number);
    const key = dice.chance(50) ? `key-${writer}-${number}` : null;
    const { operation, ...body } = requestOf(action, writer, number, dice);
    const durability = isImmediate ? { durability: 'immediate' } : {};
    const payload = { namespace: NAMESPACE, ...body, ...durability, ...(key === null ? {} : { idempotencyKey: key }) };
    return {
      writer,
      number,
      action,
      operation,
      payload: JSON.stringify(payload),
      key,
      isImmediate,
      sentMs: performance.now(),
      acknowledgedMs: Number.POSITIVE_INFINITY,
      outcome: 'unknown',
      answer: '',
    };
  }

  #queuedAction(number: number): Action {
    const { dice, writer } = this.#options;
    const kind = dice.pick(['event', 'event', 'event', 'increment', 'increment', 'set', 'set', 'remove'] as const);
    return kind === 'event' ? { kind, tag: `${writer}-${number}`, parts: dice.int(1, 3) } : { kind };
  }

  /** Action on one row: without transactions, a live insert may be cut off in the middle. */
  #liveAction(number: number): Action {
    const { dice, writer } = this.#options;
    return dice.chance(50) ? { kind: 'event', tag: `${writer}-${number}`, parts: 1 } : { kind: 'note' };
  }
}

async function attempt(client: SignedClient, call: Call): Promise<Answer | null> {
  try {
    return await client.call(call.operation, call.payload);
  } catch {
    return null;
  }
}

type Request = { readonly operation: Call['operation']; readonly [property: string]: unknown };

function requestOf(action: Action, writer: number, number: number, dice: Dice): Request {
  const own = { field: 'id', op: 'eq', value: latestId(writer) };
  switch (action.kind) {
    case 'event': {
      const rows = Array.from({ length: action.parts }, (_, part) => ({ tag: action.tag, part }));
      return { operation: 'insert', table: 'events', rows };
    }
    case 'increment': {
      const filter = { field: 'writer', op: 'eq', value: writer };
      return { operation: 'update', table: 'counters', filter, inc: { n: 1 } };
    }
    case 'set': {
      // Most are small; some fill many pages of a disk.
      const note = 'n'.repeat(dice.chance(10) ? dice.int(1, MAX_NOTE) : dice.int(0, 40));
      const row = { id: latestId(writer), seq: number, note };
      return { operation: 'upsert', table: 'latest', row, keys: ['id'] };
    }
    case 'remove':
      return { operation: 'delete', table: 'latest', filter: own };
    case 'note':
      return { operation: 'update', table: 'latest', filter: own, set: { note: `${number}` } };
    default:
      return action satisfies never;
  }
}
