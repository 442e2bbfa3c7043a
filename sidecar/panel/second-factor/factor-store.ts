import type { PanelStore } from '../store/panel-store.ts';

export interface FactorRow {
  /** Sealed. */
  readonly secret: Buffer;
  /** The newest step whose code was accepted. */
  readonly lastStep: number;
}

/** Reads and writes rows of `second_factors` and `recovery_codes`; applies no rules. */
export class FactorStore {
  readonly #store: PanelStore;

  constructor(store: PanelStore) {
    this.#store = store;
  }

  find(accountId: number): FactorRow | null {
    const row = this.#store
      .prepare('SELECT secret, last_step AS lastStep FROM second_factors WHERE account_id = ?')
      .get(accountId) as FactorRow | undefined;
    return row ?? null;
  }

  accountIds(): Set<number> {
    const rows = this.#store.prepare('SELECT account_id AS id FROM second_factors').all() as { id: number }[];
    return new Set(rows.map(({ id }) => id));
  }

  insert(accountId: number, secret: Buffer, step: number, now: number): void {
    this.#store
      .prepare('INSERT INTO second_factors (account_id, secret, last_step, created_at) VALUES (?, ?, ?, ?)')
      .run(accountId, secret, step, now);
  }

  /** False for a step that is not newer than the last: its code was used, or an older one. */
  takeStep(accountId: number, step: number): boolean {
    const update = this.#store.prepare(
      'UPDATE second_factors SET last_step = ? WHERE account_id = ? AND last_step < ?',
    );
    return update.run(step, accountId, step).changes > 0;
  }

  /** False if there was none. */
  remove(accountId: number): boolean {
    this.#store.prepare('DELETE FROM recovery_codes WHERE account_id = ?').run(accountId);
    return this.#store.prepare('DELETE FROM second_factors WHERE account_id = ?').run(accountId).changes > 0;
  }

  countCodes(accountId: number): number {
    const row = this.#store.prepare('SELECT count(*) AS n FROM recovery_codes WHERE account_id = ?').get(accountId);
    return (row as { n: number }).n;
  }

  replaceCodes(accountId: number, hashes: readonly Buffer[]): void {
    this.#store.prepare('DELETE FROM recovery_codes WHERE account_id = ?').run(accountId);
    const insert = this.#store.prepare('INSERT INTO recovery_codes (account_id, hash) VALUES (?, ?)');
    for (const hash of hashes) insert.run(accountId, hash);
  }

  /** False if it is none of the account's, or was used. */
  takeCode(accountId: number, hash: Buffer): boolean {
    const remove = this.#store.prepare('DELETE FROM recovery_codes WHERE account_id = ? AND hash = ?');
    return remove.run(accountId, hash).changes > 0;
  }

  atomically<Result>(work: () => Result): Result {
    return this.#store.transaction(work).immediate();
  }
}
