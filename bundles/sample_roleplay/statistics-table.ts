import { type DbResult, Q } from '../db_connector/helper.js';
import { isAnswer, type Outage } from './ask.ts';
import type { Basics } from './basics.ts';
import { type PlayerRow, STATS_NAMESPACE } from './schema.ts';
import { addSums, NO_SUMS, type Note, type Sums } from './statistics-book.ts';

export interface StoredSums {
  readonly players: number;
  readonly sums: Sums;
}

/**
 * The rows of this server in `stats.players`. Every method asks once; where there is no answer it says so to `outage`
 * and gives false or undefined. A refusal throws.
 */
export class StatisticsTable {
  readonly #db: Basics['db'];
  readonly #outage: Outage;
  readonly #server: string;
  /** Characters whose row is there. */
  readonly #known = new Set<number>();

  constructor(db: Basics['db'], outage: Outage, server: string) {
    this.#db = db;
    this.#outage = outage;
    this.#server = server;
  }

  /** True when the save was acknowledged. May be repeated: its key is its id, and the row keeps the id of the last one. */
  async add({ id, character, seconds, metres, kills }: Note): Promise<boolean> {
    if (!(await this.#makeRow(character))) return false;
    const change = {
      filter: this.#rowOf(character),
      set: { last_save: id },
      inc: { saves: 1, seconds, metres, kills },
    };
    const saved = await this.#db.async.Update(STATS_NAMESPACE, 'players', change, { idempotencyKey: id });
    return this.#isAnswered(saved, 'saving');
  }

  /** Which save the row has seen last, null for none. Only what is in the database counts: `flush` before. */
  async lastSave(character: number): Promise<string | null | undefined> {
    const query = { filter: this.#rowOf(character), fields: ['last_save'], limit: 1 };
    const found = await this.#db.async.Find(STATS_NAMESPACE, 'players', query);
    if (!this.#isAnswered(found, 'looking for a save')) return undefined;
    return this.#db.Rows<Pick<PlayerRow, 'last_save'>>(found)[0]?.last_save ?? null;
  }

  /**
   * Applies the write-behind queue now; true if all of it was applied, or if nothing is buffered.
   *
   * `State` alone does not tell: see `Flushed`. (`remaining` may count what others have written meanwhile.) Reading brings the queue to the database as well, unless the owner has
   * said otherwise (`consistentReads`), so a key that may not flush does no harm.
   */
  async flush(): Promise<boolean> {
    const result = await this.#db.async.Flush(STATS_NAMESPACE);
    if (result.Code === 'forbidden') return true;
    if (!this.#isAnswered(result, 'flushing')) return false;
    const { halted } = this.#db.Flushed(result);
    if (halted) this.#outage.begins('write_buffer_halted');
    return !halted;
  }

  /** Page after page, by key. */
  async read(): Promise<StoredSums | undefined> {
    let stored: StoredSums = { players: 0, sums: NO_SUMS };
    let last = 0;
    for (;;) {
      const filter = Q.And(Q.Eq('server', this.#server), Q.Gt('character_id', last));
      const query = { filter, sort: Q.Sort('character_id') };
      const page = await this.#db.async.Find(STATS_NAMESPACE, 'players', query);
      if (!this.#isAnswered(page, 'auditing')) return undefined;
      for (const row of this.#db.Rows<PlayerRow>(page)) {
        stored = { players: stored.players + 1, sums: addSums(stored.sums, row) };
        last = row.character_id;
      }
      if (!this.#db.HasMore(page)) return stored;
    }
  }

  /** Upsert with nothing but the key: the row is there afterwards, and keeps what it had. */
  async #makeRow(character: number): Promise<boolean> {
    if (this.#known.has(character)) return true;
    const row = { server: this.#server, character_id: character };
    const made = await this.#db.async.Upsert(STATS_NAMESPACE, 'players', row, ['server', 'character_id']);
    if (!this.#isAnswered(made, 'making a row')) return false;
    this.#known.add(character);
    return true;
  }

  #rowOf(character: number) {
    return Q.And(Q.Eq('server', this.#server), Q.Eq('character_id', character));
  }

  #isAnswered(result: DbResult, what: string): boolean {
    if (!isAnswer(result.Code)) {
      this.#outage.begins(result.Code);
      return false;
    }
    this.#outage.ends();
    if (result.State !== 'ok') throw new Error(`${what}: ${this.#db.ErrorMessage(result)}`);
    return true;
  }
}
