import { MAX_TAKEN_CHARS } from '../protocol/limits.ts';
import type { Connector } from './connector.ts';
import { type ByteForm, MAX_RECORDS, type Questions, readQuestion, readQuestions } from './records.ts';
import { refusedTicket, type TakenResult } from './ticket.ts';

const CALL_FIELDS = ['Operation', 'Json'];
/** A text as short as this costs less than bytes. */
const MAX_SHORT_CHARS = 100;
const NO_LIST = refusedTicket(`invalid_request: expected a list of at most ${MAX_RECORDS} records`);

/** The exports that bundles call: records in, records out, in the form of the question. Synchronous; none throws. */
export class Exports {
  readonly #connector: Connector;
  readonly #bytes: ByteForm;

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
    const { texts, reply } = readQuestion(question, ['Id'], this.#bytes);
    return reply(this.#connector.take(texts?.[0] ?? '', caller));
  }

  /** `CallMany`: a list of at most 512 records DbCall gives a ticket for each, in order. */
  callMany(questions: unknown, caller?: string): unknown {
    const { records, read, reply } = readQuestions(questions, this.#bytes);
    if (!records) return reply([NO_LIST]);
    return reply(records.map((record) => this.#connector.accept(read(record, CALL_FIELDS), caller)));
  }

  /**
   * `TakeMany`: a list of at most 512 ids gives a DbResult for each, in order; nil gives those that are ready for the caller, the
   * oldest first, at most 512. Results beyond `MAX_TAKEN_CHARS` stay: they are `pending`, or left out.
   */
  takeMany(ids: unknown, caller?: string): unknown {
    const { records, read, reply } = readQuestions(ids, this.#bytes);
    if (records === undefined) return reply([]);
    if (records === null) return reply(this.#takeReady(caller));
    return reply(this.#takeAll(records, read, caller));
  }

  /**
   * `TakeBytes`: as `TakeMany` for a list of ids, in the form that costs the least: each result is a list of its fields, and `Json`
   * of more than `MAX_SHORT_CHARS` is UTF-8 bytes, which a host copies as they are, and text character by character.
   */
  takeBytes(ids: unknown, caller?: string): unknown {
    const { records, read, reply } = readQuestions(ids, this.#bytes);
    const results = this.#takeAll(records ?? [], read, caller);
    return reply(
      results.map(({ Id, State, Status, Code, Json }) => [Id, State, Status, Code, this.#bytesOf(Json)] as const),
    );
  }

  #bytesOf(text: string): unknown {
    return text.length <= MAX_SHORT_CHARS ? text : this.#bytes.write(Buffer.from(text));
  }

  #takeAll(ids: readonly unknown[], read: Questions['read'], caller: string | undefined): TakenResult[] {
    let chars = 0;
    return ids.map((given) => {
      const id = read([given], ['Id']).texts?.[0] ?? '';
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

/** The result is not handed out yet: ask again on a later tick. */
function pendingResult(id: string): TakenResult {
  return { Id: id, State: 'pending', Status: 0, Code: '', Json: '' };
}
