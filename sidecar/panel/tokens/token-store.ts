import { isPermission, type Permission } from '../shapes/permissions.ts';
import type { PanelStore } from '../store/panel-store.ts';

export interface TokenRow {
  readonly id: number;
  readonly accountId: number;
  readonly name: string;
  readonly permissions: ReadonlySet<Permission>;
  readonly addresses: readonly string[];
  /** Times are epoch milliseconds. */
  readonly createdAt: number;
  /** null: it has no end. */
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
  readonly lastAddress: string | null;
}

interface StoredRow extends Omit<TokenRow, 'permissions' | 'addresses'> {
  readonly permissions: string;
  readonly addresses: string;
}

const COLUMNS = `id, account_id AS accountId, name, permissions, addresses, created_at AS createdAt, expires_at AS expiresAt,
  last_used_at AS lastUsedAt, last_address AS lastAddress`;

/** Reads and writes rows of `tokens`; applies no rules. */
export class TokenStore {
  readonly #store: PanelStore;

  constructor(store: PanelStore) {
    this.#store = store;
  }

  byHash(hash: Buffer): TokenRow | null {
    return found(this.#store.prepare(`SELECT ${COLUMNS} FROM tokens WHERE hash = ?`).get(hash));
  }

  byId(id: number): TokenRow | null {
    return found(this.#store.prepare(`SELECT ${COLUMNS} FROM tokens WHERE id = ?`).get(id));
  }

  /** Newest first. */
  all(): TokenRow[] {
    const rows = this.#store.prepare(`SELECT ${COLUMNS} FROM tokens ORDER BY id DESC`).all();
    return (rows as StoredRow[]).map(rowOf);
  }

  /** Newest first. */
  ofAccount(accountId: number): TokenRow[] {
    const rows = this.#store.prepare(`SELECT ${COLUMNS} FROM tokens WHERE account_id = ? ORDER BY id DESC`);
    return (rows.all(accountId) as StoredRow[]).map(rowOf);
  }

  insert(hash: Buffer, row: Omit<TokenRow, 'id' | 'lastUsedAt' | 'lastAddress'>): number {
    const { accountId, name, permissions, addresses, createdAt, expiresAt } = row;
    const { lastInsertRowid } = this.#store
      .prepare(
        `INSERT INTO tokens (hash, account_id, name, permissions, addresses, created_at, expires_at)
          VALUES (?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(hash, accountId, name, JSON.stringify([...permissions]), JSON.stringify(addresses), createdAt, expiresAt);
    return Number(lastInsertRowid);
  }

  /** False if it was removed already. */
  remove(id: number): boolean {
    return this.#store.prepare('DELETE FROM tokens WHERE id = ?').run(id).changes > 0;
  }

  saveUses(uses: Iterable<readonly [id: number, use: { readonly at: number; readonly address: string }]>): void {
    const write = this.#store.prepare('UPDATE tokens SET last_used_at = ?, last_address = ? WHERE id = ?');
    this.#store.transaction(() => {
      for (const [id, { at, address }] of uses) write.run(at, address, id);
    })();
  }
}

function found(row: unknown): TokenRow | null {
  return row === undefined ? null : rowOf(row as StoredRow);
}

function rowOf({ permissions, addresses, ...row }: StoredRow): TokenRow {
  const names = JSON.parse(permissions) as unknown[];
  return { ...row, permissions: new Set(names.filter(isPermission)), addresses: JSON.parse(addresses) as string[] };
}
