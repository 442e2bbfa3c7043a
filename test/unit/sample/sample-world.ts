import { AsyncDatabase } from '#connector/helper/async-database.ts';
import { Database, type DbResult } from '#connector/helper/helper.ts';
import { Autosave } from '#sample/autosave.ts';
import type { Game } from '#sample/game.ts';
import { Gate } from '#sample/gate.ts';
import { Statistics } from '#sample/statistics.ts';
import { Tally } from '#sample/tally.ts';
import { type Answer, MemorySidecar } from './memory-sidecar.ts';

/** The game server process has died. */
export class Crash extends Error {}

/** When a call kills the server: before it goes out, after it was carried out, or while it is on its way. */
export type Moment = 'before' | 'after' | { readonly lateBy: number };

interface Server {
  isDead: boolean;
}

/** A town in memory, with game servers that die and answers that get lost at a chosen call. */
export class SampleWorld {
  readonly sidecar = new MemorySidecar();
  /** Whether the database of this world does batches; for games to come. */
  hasTransactions: boolean;
  calls = 0;
  game: Game;
  /** Waits at a call's way out and at its way back, so that a test may put calls in any order. */
  schedule: ((name: string) => Promise<unknown>) | undefined;
  /** Where the bundle keeps files; statistics alone do. */
  vfs = '/nowhere';
  said = (line: string): void => {
    throw new Error(`nothing should be said: ${line}`);
  };
  /** Runs after each call that was carried out. */
  afterEach: (() => void) | undefined;
  #death: { at: number; moment: Moment } | undefined;
  #loss: { at: number; then: () => void } | undefined;
  #late: { dueAt: number; operation: string; text: string }[] = [];

  constructor(ids: readonly number[], money: number, hasTransactions = false) {
    this.hasTransactions = hasTransactions;
    const rows = ids.map((id) => ({ id, money, paid_in: money, spent: 0, last_out: null, last_in: null }));
    this.sidecar.rows('characters').push(...rows);
    this.game = this.anotherGame();
  }

  /** A new process in place of the one that died. */
  restart(): void {
    this.#death = undefined;
    this.game = this.anotherGame();
  }

  dieAt(call: number, moment: Moment): void {
    this.#death = { at: call, moment };
  }

  loseAnswerOf(call: number, then: () => void): void {
    this.#loss = { at: call, then };
  }

  /** Delivers the calls that are still on their way. */
  deliverLate(): void {
    for (const { operation, text } of this.#late.splice(0)) this.sidecar.run(operation, text);
  }

  money(): number[] {
    return this.sidecar.rows('characters').map(({ money }) => Number(money));
  }

  states(): string[] {
    return this.sidecar.rows('bank_transactions').map(({ state }) => String(state));
  }

  /** Surplus of money, counted without the sample's own audit. */
  surplus(): number {
    const characters = this.sidecar.rows('characters');
    const sum = (name: string) => characters.reduce((total, row) => total + Number(row[name]), 0);
    const onTheWay = this.sidecar.rows('bank_transactions').filter(({ id, state, from_id, to_id }) => {
      if (to_id === null) return false;
      if (state === 'new') return characters.find((row) => row.id === from_id)?.last_out === id;
      return state === 'debited' && characters.find((row) => row.id === to_id)?.last_in !== id;
    });
    const away = onTheWay.reduce((total, { amount }) => total + Number(amount), 0);
    return sum('money') + away - (sum('paid_in') - sum('spent'));
  }

  anotherGame(): Game {
    const server: Server = { isDead: false };
    const db = new MemoryDatabase((operation, text) => this.#call(server, operation, text));
    const tally = new Tally();
    const surroundings = { db, log: (line: string) => this.said(line), signal: new AbortController().signal };
    return {
      ...surroundings,
      async ask(call) {
        for (;;) {
          const result = await call();
          if (result.Code !== 'network') return result;
        }
      },
      hasTransactions: this.hasTransactions,
      gate: new Gate(),
      autosave: new Autosave({ ...surroundings, tally }),
      statistics: new Statistics(surroundings, this.vfs),
      tally,
    };
  }

  async #call(server: Server, operation: string, text: string): Promise<DbResult> {
    await this.schedule?.(`${operation} goes out`);
    if (server.isDead) throw new Crash('dead already');
    this.calls += 1;
    this.#deliverDue();
    const moment = this.#death?.at === this.calls ? this.#death.moment : undefined;
    if (moment !== undefined) server.isDead = true;
    if (moment === 'before') throw new Crash(operation);
    if (typeof moment === 'object') {
      this.#late.push({ dueAt: this.calls + moment.lateBy, operation, text });
      throw new Crash(operation);
    }
    const answer = this.sidecar.run(operation, text);
    this.afterEach?.();
    if (moment === 'after') throw new Crash(operation);
    if (this.#loss?.at === this.calls) {
      this.#loss.then();
      return toResult({ status: 0, body: { error: { code: 'network', message: 'lost' } } });
    }
    await this.schedule?.(`${operation} comes back`);
    if (server.isDead) throw new Crash('died meanwhile');
    return toResult(answer);
  }

  #deliverDue(): void {
    const due = this.#late.filter(({ dueAt }) => dueAt < this.calls);
    this.#late = this.#late.filter((call) => !due.includes(call));
    for (const { operation, text } of due) this.sidecar.run(operation, text);
  }
}

function toResult({ status, body }: Answer): DbResult {
  const code = 'error' in body ? (body.error as { code: string }).code : '';
  return { Id: 'x', State: code === '' ? 'ok' : 'error', Status: status, Code: code, Json: JSON.stringify(body) };
}

type Run = (operation: string, text: string) => Promise<DbResult>;

/** The real helper, its payloads and readers, with a memory below in place of a connector. */
class MemoryDatabase extends Database {
  override readonly async: AsyncDatabase;

  constructor(run: Run) {
    super({ name: 'sample_roleplay', log: () => {}, on: () => {}, exports: { call: () => undefined } });
    this.async = new AsyncDatabase(
      async ({ operation, payload }) => run(operation, payload()),
      () => run('health', '{}'),
    );
  }
}
