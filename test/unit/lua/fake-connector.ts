interface Question {
  readonly operation: string;
  readonly payload: Record<string, unknown>;
}

type Answer = (
  question: Question,
  index: number,
) => object | 'pending' | { code: string; message?: string; index?: number };

/** db_connector's exports, which take each call on and answer it at the next question. */
export class FakeConnector {
  readonly asked: Question[] = [];
  /** More than these in flight are refused as busy. */
  places = Number.POSITIVE_INFINITY;
  isRunning = true;
  /** False: an older connector, which has no exports for lists. */
  hasLists = true;
  readonly #answer: Answer;
  readonly #open = new Map<string, number>();

  constructor(answer: Answer = () => ({})) {
    this.#answer = answer;
  }

  /** Lengths of the lists that came. */
  readonly lists: number[] = [];

  readonly exports = {
    db_connector: {
      Call: (record: { Operation: string; Json: string }) => this.#call(record),
      TakeResult: ({ Id }: { Id: string }) => this.#take(Id),
      CallMany: (records: { Operation: string; Json: string }[]) => {
        this.#mustHaveLists('CallMany', records.length);
        return records.map((record) => this.#call(record));
      },
      TakeMany: (ids: string[]) => {
        this.#mustHaveLists('TakeMany', ids.length);
        return ids.map((id) => this.#take(id));
      },
      ClockOffset: () => 86_400_000,
    },
  };

  #mustHaveLists(name: string, length: number): void {
    if (!this.hasLists) throw new Error(`No such export ${name} in resource db_connector`);
    this.lists.push(length);
  }

  #call({ Operation, Json }: { Operation: string; Json: string }) {
    this.#mustRun();
    if (this.#open.size >= this.places) return { Id: '', Accepted: false, Error: 'busy: no place' };
    const id = `t${this.asked.length}`;
    this.#open.set(id, this.asked.length);
    this.asked.push({ operation: Operation, payload: JSON.parse(Json) as Record<string, unknown> });
    return { Id: id, Accepted: true, Error: '' };
  }

  #take(Id: string) {
    this.#mustRun();
    const index = this.#open.get(Id);
    const missing = { Id, State: 'missing', Status: 0, Code: '', Json: '' };
    if (index === undefined) return missing;
    const answer = this.#answer(this.asked[index] as Question, index);
    if (answer === 'pending') return { ...missing, State: 'pending' };
    this.#open.delete(Id);
    if ('code' in answer)
      return { Id, State: 'error', Status: 409, Code: answer.code, Json: JSON.stringify({ error: answer }) };
    return { Id, State: 'ok', Status: 200, Code: '', Json: JSON.stringify(answer) };
  }

  #mustRun(): void {
    if (!this.isRunning) throw new Error('No such export in resource db_connector');
  }
}
