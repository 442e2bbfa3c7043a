import { PanelError } from '../panel-error.ts';
import type { AccountView } from '../shapes/accounts.ts';
import type { Locale } from '../shapes/locales.ts';
import type { Permission } from '../shapes/permissions.ts';
import {
  type AccountChange,
  type AccountChangeWord,
  checkGrant,
  checkManagers,
  describeAccountChange,
  isManager,
  type PermissionsChange,
  permissionsChange,
  readPermissions,
} from './account-rules.ts';
import { type Account, type AccountStore, inOrder } from './account-store.ts';
import { readPassword, readUsername } from './credentials.ts';
import type { PasswordHasher } from './password-hasher.ts';

/** Body of `POST /api/users/save`. */
export interface AccountDraft {
  readonly username: string;
  /** Omitted or empty: the password stays. */
  readonly password?: string | undefined;
  readonly permissions?: readonly string[] | undefined;
  readonly enabled?: boolean | undefined;
  readonly create?: boolean | undefined;
}

interface SavedAccount {
  readonly changes: readonly AccountChangeWord[];
  /** null if unchanged. */
  readonly permissions: PermissionsChange | null;
}

export interface AccountsOptions {
  readonly store: AccountStore;
  readonly hasher: PasswordHasher;
  /** Ways in that end with the account, its password or its being enabled: sessions, tokens. */
  readonly waysIn: readonly WayIn[];
  readonly factors: { accountIds(): ReadonlySet<number> };
}

export interface WayIn {
  endOfAccount(accountId: number): void;
}

/**
 * Accounts, and the rules for changing them. Each change is checked in the transaction that makes it: if two managers remove
 * each other at once, the second is refused.
 */
export class Accounts {
  readonly #store: AccountStore;
  readonly #hasher: PasswordHasher;
  readonly #waysIn: readonly WayIn[];
  readonly #factors: AccountsOptions['factors'];
  readonly #permissionsListeners = new Set<(change: PermissionsChange) => void>();
  readonly #listeners = new Set<(change: AccountChange) => void>();

  constructor({ store, hasher, waysIn, factors }: AccountsOptions) {
    this.#store = store;
    this.#hasher = hasher;
    this.#waysIn = waysIn;
    this.#factors = factors;
  }

  /** True until the setup has created the first account. */
  get isEmpty(): boolean {
    return this.#store.count() === 0;
  }

  list(): AccountView[] {
    const factors = this.#factors.accountIds();
    return this.#store.all().map((account) => viewOf(account, factors));
  }

  byId(id: number): Account | null {
    return this.#store.byId(id);
  }

  /** @throws PanelError users.unknown */
  idOf(name: string): number {
    return this.#known(readUsername(name)).id;
  }

  /** @throws PanelError users.unknown */
  view(name: string): AccountView {
    return viewOf(this.#known(readUsername(name)), this.#factors.accountIds());
  }

  /** Creates the account of the setup. False if an account exists, also if a simultaneous setup has created it. */
  async createFirst(draft: {
    username: string;
    password: string;
    permissions: readonly Permission[];
  }): Promise<boolean> {
    const username = readUsername(draft.username);
    const password = await this.#hasher.hash(readPassword(draft.password), 'setup');
    return this.#store.atomically(() => {
      if (!this.isEmpty) return false;
      this.#store.insert({ username, password, permissions: new Set(draft.permissions), enabled: true });
      return true;
    });
  }

  /** Creates or changes an account. Returns the changes as the audit log writes them. @throws PanelError */
  async save(actorId: number, draft: AccountDraft): Promise<readonly AccountChangeWord[]> {
    const username = readUsername(draft.username);
    const permissions = draft.permissions === undefined ? undefined : readPermissions(draft.permissions);
    const isKept = draft.password === undefined || (draft.password === '' && draft.create !== true);
    if (isKept && draft.create === true) throw new PanelError('users.password', { field: 'password' });
    const plain = isKept ? null : readPassword(draft.password as string);
    this.#checkSave(actorId, username, draft, permissions);
    const by = this.#actor(actorId).username;
    const password = plain === null ? undefined : await this.#hasher.hash(plain, `account ${actorId}`);
    const saved = this.#store.atomically(() => {
      const before = this.#checkSave(actorId, username, draft, permissions);
      return before === null
        ? this.#insert(username, password as string, permissions, draft.enabled)
        : this.#update(before, { ...before, ...given({ password, permissions, enabled: draft.enabled }) });
    });
    if (saved.permissions !== null) for (const listener of this.#permissionsListeners) listener(saved.permissions);
    this.#tell({ username, by, changes: saved.changes });
    return saved.changes;
  }

  /** @throws PanelError */
  remove(actorId: number, name: string): void {
    const username = readUsername(name);
    const by = this.#store.atomically(() => {
      const actor = this.#actor(actorId);
      const account = this.#known(username);
      checkGrant(actor, account.permissions);
      checkManagers(() => this.#store.all(), account, null);
      this.#endWaysIn(account.id);
      this.#store.remove(account.id);
      return actor.username;
    });
    this.#tell({ username, by, changes: ['(deleted)'] });
  }

  /** The account whose second factor the actor may remove. @throws PanelError */
  checkFactorReset(actorId: number, name: string): Account {
    const actor = this.#actor(actorId);
    const account = this.#known(readUsername(name));
    // Its own is removed with a code: a stolen session must not be enough.
    if (account.id === actor.id) throw new PanelError('secondFactor.own', { field: 'username' });
    checkGrant(actor, account.permissions);
    return account;
  }

  setLocale(id: number, locale: Locale): void {
    const account = this.#store.byId(id);
    if (account !== null) this.#store.update({ ...account, locale });
  }

  onPermissionsChanged(listener: (change: PermissionsChange) => void): void {
    this.#permissionsListeners.add(listener);
  }

  /** Called after each change that is on the disk. */
  onChanged(listener: (change: AccountChange) => void): void {
    this.#listeners.add(listener);
  }

  #tell(change: AccountChange): void {
    if (change.changes.length > 0) for (const listener of this.#listeners) listener(change);
  }

  /** The current account, or null if it is to be created. */
  #checkSave(
    actorId: number,
    username: string,
    draft: AccountDraft,
    permissions: ReadonlySet<Permission> | undefined,
  ): Account | null {
    const actor = this.#actor(actorId);
    checkGrant(actor, permissions ?? new Set());
    const account = this.#store.byName(username);
    if (draft.create === true) {
      if (account !== null) throw new PanelError('users.exists', { field: 'username' });
      return null;
    }
    if (account === null) throw new PanelError('users.unknown', { field: 'username' });
    checkGrant(actor, account.permissions);
    return account;
  }

  #insert(
    username: string,
    password: string,
    permissions: ReadonlySet<Permission> = new Set(),
    enabled = true,
  ): SavedAccount {
    this.#store.insert({ username, password, permissions, enabled });
    return { changes: ['(new)', ...inOrder(permissions).map((name) => `+${name}` as const)], permissions: null };
  }

  #update(before: Account, after: Account): SavedAccount {
    checkManagers(() => this.#store.all(), before, after);
    this.#store.update(after);
    if (after.password !== before.password || !after.enabled) this.#endWaysIn(after.id);
    return { changes: describeAccountChange(before, after), permissions: permissionsChange(before, after) };
  }

  /** Reads the acting account again: it may have lost the right since the request began. */
  #actor(id: number): Account {
    const actor = this.#store.byId(id);
    if (actor === null || !isManager(actor)) throw new PanelError('permission.missing');
    return actor;
  }

  #endWaysIn(accountId: number): void {
    for (const way of this.#waysIn) way.endOfAccount(accountId);
  }

  #known(username: string): Account {
    const account = this.#store.byName(username);
    if (account === null) throw new PanelError('users.unknown', { field: 'username' });
    return account;
  }
}

function viewOf({ id, username, permissions, enabled }: Account, factors: ReadonlySet<number>): AccountView {
  return { username, permissions: inOrder(permissions), enabled, secondFactor: factors.has(id) };
}

function given<Fields extends object>(fields: Fields): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
