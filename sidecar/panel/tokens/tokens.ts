import { createHash, randomBytes } from 'node:crypto';
import { AddressRanges } from '#sidecar/security/addresses.ts';
import { checkGrant, isManager } from '../accounts/account-rules.ts';
import { type Account, type AccountStore, inOrder } from '../accounts/account-store.ts';
import type { EndReason } from '../accounts/sessions.ts';
import { PanelError } from '../panel-error.ts';
import { MOST_TOKENS, type TokenView } from '../shapes/tokens.ts';
import type { PanelStore } from '../store/panel-store.ts';
import { CallRate } from './call-rate.ts';
import { readTokenFields, type TokenDraft } from './token-fields.ts';
import { type TokenRow, TokenStore } from './token-store.ts';

const TOKEN = /^pnl_[A-Za-z0-9_-]{43}$/;
const SAVE_MS = 10_000;

export interface EndedTokens {
  readonly tokenIds: readonly number[];
  readonly reason: EndReason;
}

export interface TokensOptions {
  readonly store: PanelStore;
  readonly accounts: AccountStore;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly monotonicNow: () => number;
  /** Runs work that no request waits for, and reports its failures. */
  readonly attempt: (work: () => void) => void;
}

/**
 * Tokens of accounts, for their programs. The panel keeps a hash; a token may do what it lists and its maker holds at that
 * moment, and ends with the maker.
 */
export class Tokens {
  readonly #rows: TokenStore;
  readonly #accounts: AccountStore;
  readonly #now: () => number;
  readonly #rate: CallRate;
  readonly #attempt: TokensOptions['attempt'];
  readonly #listeners = new Set<(ended: EndedTokens) => void>();
  /** Uses that are not written yet: a commit for each call would wait for the disk. */
  readonly #uses = new Map<number, { readonly at: number; readonly address: string }>();
  readonly #timer: NodeJS.Timeout;

  constructor({ store, accounts, now, monotonicNow, attempt }: TokensOptions) {
    this.#rows = new TokenStore(store);
    this.#accounts = accounts;
    this.#now = now;
    this.#rate = new CallRate(monotonicNow);
    this.#attempt = attempt;
    this.#timer = setInterval(() => this.#saveUses(), SAVE_MS).unref();
  }

  /** Its own tokens, or all for a manager of accounts. */
  list(accountId: number): TokenView[] {
    const actor = this.#actor(accountId);
    const rows = isManager(actor) ? this.#rows.all() : this.#rows.ofAccount(accountId);
    const names = new Map(this.#accounts.all().map(({ id, username }) => [id, username]));
    return rows.map((row) => this.#viewOf(row, names.get(row.accountId) ?? ''));
  }

  /** Throws for a draft that `create` would refuse: the password is asked only for a good one. @throws PanelError */
  check(accountId: number, draft: TokenDraft): void {
    this.#read(accountId, draft);
  }

  /** The secret is returned once. @throws PanelError */
  create(accountId: number, draft: TokenDraft): { readonly id: number; readonly name: string; readonly token: string } {
    const token = `pnl_${randomBytes(32).toString('base64url')}`;
    return this.#accounts.atomically(() => {
      const fields = this.#read(accountId, draft);
      const id = this.#rows.insert(hashOf(token), { ...fields, accountId, createdAt: this.#now() });
      return { id, name: fields.name, token };
    });
  }

  /** Returns `NAME`, or `NAME (ACCOUNT)` for a token of another account. @throws PanelError */
  revoke(accountId: number, id: number): string {
    return this.#accounts.atomically(() => {
      const actor = this.#actor(accountId);
      const row = this.#rows.byId(id);
      const owner = row === null ? null : this.#accounts.byId(row.accountId);
      const isOwn = row?.accountId === accountId;
      // An account learns nothing of tokens that it cannot see.
      if (row === null || owner === null || !(isOwn || isManager(actor))) throw new PanelError('tokens.unknown');
      if (!isOwn) checkGrant(actor, owner.permissions);
      this.#end([id], 'account');
      return isOwn ? row.name : `${row.name} (${owner.username})`;
    });
  }

  /** Throws unless the token may be used now from this address. @throws PanelError */
  use(secret: string, address: string): TokenRow {
    const row = TOKEN.test(secret) ? this.#rows.byHash(hashOf(secret)) : null;
    if (row === null) throw new PanelError('token.invalid');
    if (row.expiresAt !== null && row.expiresAt <= this.#now()) throw new PanelError('token.expired');
    const isAllowed = row.addresses.length === 0 || new AddressRanges(row.addresses).has(address);
    if (!isAllowed) throw new PanelError('token.address');
    return row;
  }

  /** Counts a call, and notes it as the last use. @throws PanelError rate.limited */
  countCall(id: number, address: string): void {
    const retryAfterSeconds = this.#rate.count(id);
    if (retryAfterSeconds > 0) throw new PanelError('rate.limited', { retryAfterSeconds });
    this.#uses.set(id, { at: this.#now(), address });
  }

  /** Sees tokens that another process has ended too. */
  isOpen(id: number): boolean {
    return this.#rows.byId(id) !== null;
  }

  endOfAccount(accountId: number): void {
    this.#end(
      this.#rows.ofAccount(accountId).map(({ id }) => id),
      'account',
    );
  }

  onEnded(listener: (ended: EndedTokens) => void): void {
    this.#listeners.add(listener);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#saveUses();
  }

  #read(accountId: number, draft: TokenDraft) {
    const actor = this.#actor(accountId);
    const fields = readTokenFields(draft, this.#now());
    checkGrant(actor, fields.permissions);
    if (this.#rows.ofAccount(accountId).length >= MOST_TOKENS) throw new PanelError('tokens.tooMany');
    return fields;
  }

  /** Reads the acting account again: it may have lost a right since the request began. */
  #actor(id: number): Account {
    const actor = this.#accounts.byId(id);
    if (actor === null || !actor.enabled) throw new PanelError('session.missing');
    return actor;
  }

  #viewOf(row: TokenRow, username: string): TokenView {
    const use = this.#uses.get(row.id);
    const lastUsedAt = use?.at ?? row.lastUsedAt;
    return {
      ...{ id: row.id, name: row.name, username, permissions: inOrder(row.permissions), addresses: row.addresses },
      createdAt: timeText(row.createdAt),
      expiresAt: row.expiresAt === null ? null : timeText(row.expiresAt),
      lastUsedAt: lastUsedAt === null ? null : timeText(lastUsedAt),
      lastAddress: use?.address ?? row.lastAddress,
    };
  }

  #saveUses(): void {
    if (this.#uses.size === 0) return;
    this.#attempt(() => {
      this.#rows.saveUses(this.#uses);
      this.#uses.clear();
    });
  }

  #end(ids: readonly number[], reason: EndReason): void {
    const removed = ids.filter((id) => this.#rows.remove(id));
    for (const id of removed) {
      this.#uses.delete(id);
      this.#rate.forget(id);
    }
    if (removed.length === 0) return;
    // After the transaction that may surround this call, and that throws if it fails.
    queueMicrotask(() => {
      for (const listener of this.#listeners) listener({ tokenIds: removed, reason });
    });
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function timeText(at: number): string {
  return new Date(at).toISOString();
}
