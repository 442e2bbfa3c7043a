import { contradiction, type Expectation } from './expectation.ts';
import { UNKNOWN_ID, Undecided } from './generator-state.ts';
import { Model } from './model.ts';
import type { TableState } from './model-table.ts';
import { programLines } from './program-arbitrary.ts';
import { requestOf, schemaText } from './requests.ts';
import { type ModelCapabilities, type Program, type Step, tablesOf } from './types.ts';

export interface ModelAnswer {
  readonly status: number;
  /** Empty if the call succeeded. */
  readonly code: string;
  /** Payload, digit for digit. */
  readonly text: string;
}

/** How a program reaches the API: payload text of an operation. */
export type Caller = (operation: string, payload: string) => Promise<ModelAnswer>;

/** An answer that is not the model's. The message is the program up to it, and both. */
export class WrongAnswer extends Error {}

/**
 * Sends a program to an API and compares each answer with the model's, and at the end every row.
 * @throws WrongAnswer
 */
export async function runProgram(
  program: Program,
  namespace: string,
  call: Caller,
  can: ModelCapabilities,
): Promise<'done' | 'undecided'> {
  const run = new ProgramRun(program, namespace, call, can);
  try {
    if (!(await run.declare())) return 'done';
    for (const [i, step] of program.steps.entries()) await run.step(step, i);
    await run.compareRows();
    return 'done';
  } catch (error) {
    if (error instanceof Undecided) return 'undecided';
    throw error;
  } finally {
    // Whether that works is not what is asked here, and must not hide what is.
    await call('schema.sync', `{"namespace":"${namespace}","schema":{"tables":[]}}`).catch(() => {});
  }
}

class ProgramRun {
  readonly #program: Program;
  readonly #namespace: string;
  readonly #call: Caller;
  readonly #model: Model;
  readonly #isBeyond: boolean;

  constructor(program: Program, namespace: string, call: Caller, can: ModelCapabilities) {
    this.#program = program;
    this.#namespace = namespace;
    this.#call = call;
    this.#model = new Model(program.tables, can);
    this.#isBeyond = program.tables.some(({ columns }) =>
      columns.some(({ type, scale }) => type === 'decimal' && scale > can.maxDecimalScale),
    );
  }

  get #atTheEnd(): readonly Step[] {
    const all = { filter: null, fields: null, sort: [], limit: null, offset: 0 };
    return this.#program.tables.map(({ name }): Step => ({ op: 'find', table: name, ...all }));
  }

  /** False if the database does not keep a type of the program, and says so. */
  async declare(): Promise<boolean> {
    const answer = await this.#send('schema.sync', `"schema":${schemaText(this.#program.tables)}`);
    if (this.#isBeyond) {
      if (answer.status !== 400 || answer.code !== 'invalid_schema') this.#fail(-1, 'a refused sync', answer);
    } else if (answer.status !== 200) this.#fail(-1, 'a sync', answer);
    return !this.#isBeyond;
  }

  async step(step: Step, index: number): Promise<void> {
    const expectation = this.#expectation(step);
    if (expectation === null) return;
    const { operation, payload } = requestOf(step);
    const answer = await this.#send(operation, payload);
    // Whether it was done at all, before what is known only with the database's ids.
    if ('refusals' in expectation || answer.status !== 200) this.#compare(expectation, answer, index);
    for (const table of tablesOf(step)) await this.#learnIds(this.#model.stateOf(table), index);
    this.#compare(expectation, answer, index);
  }

  /** Null for a batch that cannot be judged: the model has not done it, and it is not sent. */
  #expectation(step: Step): Expectation | null {
    try {
      return this.#model.expect(step);
    } catch (error) {
      if (step.op === 'batch' && error instanceof Undecided) return null;
      throw error;
    }
  }

  #compare(expectation: Expectation, answer: ModelAnswer, index: number): void {
    const expected = contradiction(expectation, answer);
    if (expected !== null) this.#fail(index, expected, answer);
  }

  /** Compares the rows of all tables at the end. */
  async compareRows(): Promise<void> {
    const { steps } = this.#program;
    for (const [i, step] of this.#atTheEnd.entries()) await this.step(step, steps.length + i);
  }

  /** Ids that the database gave after a failed request are read, since nothing says which they are. */
  async #learnIds(state: TableState, index: number): Promise<void> {
    const name = state.generatedName;
    if (name === null || !state.hasUnknownIds) return;
    const answer = await this.#send('find', `"table":"${state.table.name}","fields":["${name}"]`);
    const ids = [...answer.text.matchAll(/:(-?\d+)\}/g)].map(([, digits]) => BigInt(digits as string));
    const fault = state.learnIds(ids);
    if (fault !== null) this.#fail(index, `${fault} (${UNKNOWN_ID})`, answer);
  }

  #send(operation: string, payload: string): Promise<ModelAnswer> {
    return this.#call(operation, `{"namespace":"${this.#namespace}",${payload}}`);
  }

  #fail(index: number, expected: string, answer: ModelAnswer): never {
    const lines = programLines({
      ...this.#program,
      steps: [...this.#program.steps, ...this.#atTheEnd].slice(0, index + 1),
    });
    throw new WrongAnswer([...lines, `expected ${expected}`, `got      ${answer.status} ${answer.text}`].join('\n'));
  }
}
