import { MAX_TAKEN_CHARS } from '../protocol/limits.ts';
import { packBytes, packTexts, unpackTexts } from '../protocol/packed-texts.ts';
import { Scratch } from '../protocol/scratch.ts';
import type { Connector } from './connector.ts';
import { type ByteForm, MAX_RECORDS, type Question, readQuestion, readQuestions } from './records.ts';
import { refusedTicket, type TakenResult } from './ticket.ts';

const CALL_FIELDS = ['Operation', 'Json'];
const ID_FIELDS = ['Id'];
const NO_LIST = refusedTicket(`invalid_request: expected a list of at most ${MAX_RECORDS} records`);

/** The exports that bundles call: records in, records out, in the form of the question. Synchronous; none throws. */
export class Exports {
  readonly #connector: Connector;
  readonly #bytes: ByteForm;
  /** For answers, which a host copies before the next call. */
  readonly #scratch = new Scratch();

  constructor(connector: Connector, bytes: ByteForm) {
    this.#connector = connector;
    this.#bytes = bytes;
  }

  /** `Call`: a record DbCall(Operation, Json) gives DbTicket(Id, Accepted, Error). */
  call(question: unknown, caller?: string): unknown {
    const asked = readQuestion(question, CALL_FIELDS, this.#bytes);
    return asked.reply(this.#connector.accept(asked, caller));
  }

  /** `TakeResult`: a record DbResultQuery(Id) gives DbResult(Id, State, Status, Code, Json). */
  takeResult(question: unknown, caller?: string): unknown {
    const { texts, reply } = readQuestion(question, ID_FIELDS, this.#bytes);
    this.#connector.client?.collect();
    return reply(this.#connector.take(texts?.[0] ?? '', caller));
  }

  /** `CallMany`: a list of at most 512 records DbCall gives a ticket for each, in order. */
  callMany(questions: unknown, caller?: string): unknown {
    const packed = packedTexts(questions, 2 * MAX_RECORDS);
    if (packed !== null) return this.#callPacked(packed, caller);
    const { records, read, reply } = readQuestions(questions, this.#bytes);
    if (!records) return reply([NO_LIST]);
    return reply(records.map((record) => this.#connector.accept(read(record, CALL_FIELDS), caller)));
  }

  /**
   * `TakeMany`: a list of at most 512 ids gives a DbResult for each, in order; nil gives those that are ready for the caller, the
   * oldest first, at most 512. Results beyond `MAX_TAKEN_CHARS` stay: they are `pending`, or left out.
   */
  takeMany(ids: unknown, caller?: string): unknown {
    this.#connector.client?.collect();
    const packed = packedTexts(ids, MAX_RECORDS);
    if (packed !== null) return this.#takePacked(packed, caller);
    const { records, read, reply } = readQuestions(ids, this.#bytes);
    if (records === undefined) return reply([]);
    if (records === null) return reply(this.#takeReady(caller));
    const texts = records.map((id) => read([id], ID_FIELDS).texts?.[0] ?? '');
    return reply(this.#takeAll(texts, caller));
  }

  /** The helper's form of `CallMany`: Operation and Json of each call, packed; Id and Error of each ticket, packed. */
  #callPacked(texts: readonly string[], caller: string | undefined): string {
    const replies: string[] = [];
    for (let at = 0; at < texts.length; at += 2) {
      const ticket = this.#connector.accept(this.#packedQuestion(texts, at), caller);
      replies.push(ticket.Id, ticket.Error);
    }
    return packTexts(replies);
  }

  #packedQuestion(texts: readonly string[], at: number): Omit<Question, 'reply'> {
    const operation = texts[at] as string;
    const json = texts[at + 1];
    const isUsual = json !== undefined && operation.isWellFormed() && json.isWellFormed();
    return isUsual
      ? { texts: [operation, json], isTooLong: false }
      : readQuestion(texts.slice(at, at + 2), CALL_FIELDS, this.#bytes);
  }

  /**
   * The helper's form of `TakeMany`: ids, packed; for each result State, Status and Code in one text, then Json, as a list if the host
   * does not copy texts, else packed as bytes.
   */
  #takePacked(ids: readonly string[], caller: string | undefined): unknown {
    const results = this.#takeAll(ids, caller);
    const texts: string[] = [];
    for (let index = 0; index < results.length; index += 1) {
      const { State, Status, Code, Json } = results[index] as TakenResult;
      texts.push(`${State} ${Status} ${Code}`, Json);
    }
    return this.#bytes.sharesTexts === true ? texts : this.#bytes.write(packBytes(texts, this.#scratch));
  }

  #takeAll(ids: readonly string[], caller: string | undefined): TakenResult[] {
    let chars = 0;
    return ids.map((id) => {
      if (chars >= MAX_TAKEN_CHARS) return pendingResult(id);
      const taken = this.#connector.take(id, caller);
      chars += taken.Json.length;
      return taken;
    });
  }

  #takeReady(caller: string | undefined): TakenResult[] {
    const results: TakenResult[] = [];
    let chars = 0;
    for (const id of this.#connector.ready(caller, MAX_RECORDS)) {
      if (chars >= MAX_TAKEN_CHARS) break;
      const taken = this.#connector.take(id, caller);
      results.push(taken);
      chars += taken.Json.length;
    }
    return results;
  }
}

/** Null if the question is no packed text, or one of too many. */
function packedTexts(question: unknown, max: number): string[] | null {
  const texts = typeof question === 'string' ? unpackTexts(question) : null;
  return texts !== null && texts.length <= max ? texts : null;
}

/** The result is not handed out yet: ask again on a later tick. */
function pendingResult(id: string): TakenResult {
  return { Id: id, State: 'pending', Status: 0, Code: '', Json: '' };
}
