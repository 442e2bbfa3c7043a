import type { Locale } from '../shapes/locales.ts';
import { isPermission, PERMISSIONS, type Permission } from '../shapes/permissions.ts';
import type { PanelStore } from '../store/panel-store.ts';

export interface Account {
  readonly id: number;
  readonly username: string;
  /** Encoded by `PasswordHasher`. */
  readonly password: string;
  readonly permissions: ReadonlySet<Permission>;
  readonly enabled: boolean;
  /** null: the language of the setup. */
  readonly locale: Locale | null;
}

interface AccountRow {
  readonly id: number;
  readonly username: string;
  readonly password: string;
  readonly permissions: string;
  readonly enabled: number;
  readonly locale: Locale | null;
}

/** Reads and writes rows of `accounts`; applies no rules. */
export class AccountStore {
  readonly #store: PanelStore;

  constructor(store: PanelStore) {
    this.#store = store;
  }

  count(): number {
    return (this.#store.prepare('SELECT count(*) AS n FROM accounts').get() as { n: number }).n;
  }

  all(): Account[] {
    return (this.#store.prepare('SELECT * FROM accounts ORDER BY username').all() as AccountRow[]).map(accountOf);
  }

  byId(id: number): Account | null {
    return found(this.#store.prepare('SELECT * FROM accounts WHERE id = ?').get(id));
  }

  byName(username: string): Account | null {
    return found(this.#store.prepare('SELECT * FROM accounts WHERE username = ?').get(username));
  }

  insert(account: Omit<Account, 'id' | 'locale'>): number {
    const { lastInsertRowid } = this.#store
      .prepare('INSERT INTO accounts (username, password, permissions, enabled) VALUES (?, ?, ?, ?)')
      .run(account.username, account.password, listOf(account.permissions), Number(account.enabled));
    return Number(lastInsertRowid);
  }

  update(account: Account): void {
    this.#store
      .prepare('UPDATE accounts SET password = ?, permissions = ?, enabled = ?, locale = ? WHERE id = ?')
      .run(account.password, listOf(account.permissions), Number(account.enabled), account.locale, account.id);
  }

  remove(id: number): void {
    this.#store.prepare('DELETE FROM accounts WHERE id = ?').run(id);
  }

  /** Transaction that locks the file for writing before it reads, so that no other write comes between. */
  atomically<Result>(work: () => Result): Result {
    return this.#store.transaction(work).immediate();
  }
}

/** Permissions in the order of `PERMISSIONS`. */
export function inOrder(permissions: ReadonlySet<Permission>): Permission[] {
  return PERMISSIONS.filter((name) => permissions.has(name));
}

function listOf(permissions: ReadonlySet<Permission>): string {
  return JSON.stringify(inOrder(permissions));
}

function found(row: unknown): Account | null {
  return row === undefined ? null : accountOf(row as AccountRow);
}

function accountOf({ permissions, enabled, ...row }: AccountRow): Account {
  const names = JSON.parse(permissions) as unknown[];
  return { ...row, permissions: new Set(names.filter(isPermission)), enabled: enabled === 1 };
}
