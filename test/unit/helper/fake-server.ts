import type { BundleEvent, BundleState, DatabaseHost, DbTicket } from '#connector/helper/helper.ts';
import { packBytes, packTexts, unpackTexts } from '#protocol/packed-texts.ts';
import { Scratch } from '#protocol/scratch.ts';

interface Call {
  readonly operation: string;
  readonly payload: Record<string, unknown>;
  readonly text: string;
  readonly id: string;
}

/** Answer of the connector to a call: by default a success without content. */
export interface Answer {
  readonly State: string;
  readonly Status: number;
  readonly Code: string;
  readonly Json: string;
}

export function ok(body: unknown): Answer {
  return { State: 'ok', Status: 200, Code: '', Json: JSON.stringify(body) };
}

export function failed(code: string, status = 0): Answer {
  return { State: 'error', Status: status, Code: code, Json: JSON.stringify({ error: { code, message: 'so it is' } }) };
}

/** A game server with a connector in it, as far as the helper can tell. Calls stay pending until they are answered. */
export class FakeServer implements DatabaseHost {
  readonly name = 'garage';
  readonly calls: Call[] = [];
  readonly lines: string[] = [];
  connector = 'db_connector';
  isRunning = true;
  /** How this host gathers calls; undefined: as the helper does by itself. */
  turn: DatabaseHost['turn'];
  /** False: a connector of before the exports for lists. */
  hasLists = true;
  /** Lengths of the lists of ids and records that came. */
  readonly lists: number[] = [];
  /** Names of the exports that were called, in order. */
  readonly exportsCalled: string[] = [];
  /** How often any result was asked for. */
  polls = 0;
  /** Set: calls are refused with it. */
  refusal = '';
  /** Why a call is refused; empty if it is not. */
  refuses: (record: Record<string, string>) => string = () => '';
  /** How often a call was refused. */
  refused = 0;
  /** So many calls may be on their way at once; what is beyond is busy. */
  places = Number.POSITIVE_INFINITY;
  /** How many milliseconds the sidecar's clock is ahead. */
  clockOffset: unknown = 0;
  /** Set: calls are answered at once. */
  reply: ((call: Call) => Answer) | undefined;
  readonly #answers = new Map<string, Answer | null>();
  readonly #listeners: ((event: BundleEvent) => void)[] = [];

  readonly exports = {
    call: (bundle: string, name: string, ...args: readonly unknown[]): unknown => {
      if (!this.isRunning || bundle !== this.connector) throw new Error(`No such export ${name} in bundle ${bundle}`);
      if (name === 'ClockOffset') return this.clockOffset;
      if (!this.hasLists && name.endsWith('Many')) throw new Error(`No such export ${name} in bundle ${bundle}`);
      this.exportsCalled.push(name);
      if (name === 'CallMany') this.lists.push((unpackTexts(args[0] as string)?.length ?? 0) / 2);
      if (name === 'TakeMany') this.lists.push(unpackTexts(args[0] as string)?.length ?? 0);
      // As a game server copies them.
      return structuredClone(this.#answerTo(name, structuredClone(args[0])));
    },
  };

  readonly log = (line: string): void => {
    this.lines.push(line);
  };

  readonly on = (_event: 'bundle', listener: (event: BundleEvent) => void): void => {
    this.#listeners.push(listener);
  };

  get last(): Call {
    const call = this.calls.at(-1);
    if (call === undefined) throw new Error('nothing was called');
    return call;
  }

  /** Answers the call with this number, counted from 0. */
  answer(index: number, answer: Answer): void {
    this.#answers.set(this.calls[index]?.id ?? '', answer);
  }

  /** Answers all calls that wait. */
  answerAll(answer: Answer): void {
    for (const [id, known] of this.#answers) if (known === null) this.#answers.set(id, answer);
  }

  /** As after a restart of the connector. */
  forgetAll(): void {
    this.#answers.clear();
  }

  tell(bundle: string, state: BundleState): void {
    for (const listener of this.#listeners) listener({ bundle, state });
  }

  #answerTo(name: string, question: unknown): unknown {
    switch (name) {
      case 'Call':
        return this.#call(question as Record<string, string>);
      case 'TakeResult':
        return this.#take(question as Record<string, string>);
      case 'CallMany':
        return packTexts(this.#callAll(unpackTexts(question as string) ?? []));
      case 'TakeMany':
        return packBytes(
          (unpackTexts(question as string) ?? []).flatMap((Id) => inTexts(this.#take({ Id }))),
          new Scratch(),
        );
      default:
        throw new Error(`No such export ${name}`);
    }
  }

  #callAll(texts: readonly string[]): string[] {
    const replies: string[] = [];
    for (let at = 0; at < texts.length; at += 2) {
      const ticket = this.#call({ Operation: texts[at] ?? '', Json: texts[at + 1] ?? '' });
      replies.push(ticket.Id, ticket.Error);
    }
    return replies;
  }

  #call(record: Record<string, string>): DbTicket {
    const { Operation = '', Json = '' } = record;
    const refusal = this.#answers.size >= this.places ? 'busy: no place' : this.refusal || this.refuses(record);
    if (refusal !== '') {
      this.refused += 1;
      return { Id: '', Accepted: false, Error: refusal };
    }
    const call = { operation: Operation, payload: JSON.parse(Json), text: Json, id: `ticket-${this.calls.length}` };
    this.calls.push(call);
    this.#answers.set(call.id, this.reply?.(call) ?? null);
    return { Id: call.id, Accepted: true, Error: '' };
  }

  #take({ Id = '' }: Record<string, string>): Answer & { readonly Id: string } {
    this.polls += 1;
    const answer = this.#answers.get(Id);
    if (answer === undefined) return { Id, State: 'missing', Status: 0, Code: '', Json: '' };
    if (answer === null) return { Id, State: 'pending', Status: 0, Code: '', Json: '' };
    this.#answers.delete(Id);
    return { Id, ...answer };
  }
}

/** A result in two texts, as the connector gives it. */
function inTexts({ State, Status, Code, Json }: Answer): string[] {
  return [`${State} ${Status} ${Code}`, Json];
}
