import { createHash, randomBytes } from 'node:crypto';
import type { PanelStore } from '../store/panel-store.ts';

export const SESSION_SECONDS = 14_400;
export const REMEMBERED_SECONDS = 2_592_000;
/** Bound per account; the oldest sessions end first. */
const MOST_SESSIONS = 50;
const SWEEP_MS = 30_000;

/** Reason why streams of a session end, as in the event `bye`. */
export type EndReason = 'logout' | 'account' | 'expired';

export interface EndedSessions {
  readonly sessionIds: readonly number[];
  readonly reason: EndReason;
}

export interface Session {
  readonly id: number;
  readonly accountId: number;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** Sessions of accounts. A token is 32 random bytes that only the browser stores; the expiry is fixed. */
export class Sessions {
  readonly #store: PanelStore;
  readonly #now: () => number;
  readonly #listeners = new Set<(ended: EndedSessions) => void>();
  readonly #sweep: NodeJS.Timeout;

  /** @param attempt runs work that no request waits for, and reports its failures */
  constructor(store: PanelStore, now: () => number, attempt: (work: () => void) => void) {
    this.#store = store;
    this.#now = now;
    this.#sweep = setInterval(() => attempt(() => this.endExpired()), SWEEP_MS).unref();
  }

  /** Returns the token of the new session. */
  open(accountId: number, isRemembered: boolean): { readonly token: string; readonly maxAgeSeconds: number } {
    const maxAgeSeconds = isRemembered ? REMEMBERED_SECONDS : SESSION_SECONDS;
    const token = randomBytes(32).toString('base64url');
    this.#store
      .prepare('INSERT INTO sessions (token_hash, account_id, expires_at) VALUES (?, ?, ?)')
      .run(hashOf(token), accountId, this.#now() + maxAgeSeconds * 1000);
    const ids = this.#idsOf(accountId);
    if (ids.length > MOST_SESSIONS) this.#end(ids.slice(0, -MOST_SESSIONS), 'expired');
    return { token, maxAgeSeconds };
  }

  find(token: string): Session | null {
    const row = this.#store
      .prepare('SELECT id, account_id AS accountId, expires_at AS expiresAt FROM sessions WHERE token_hash = ?')
      .get(hashOf(token)) as Session | undefined;
    return row === undefined || row.expiresAt <= this.#now() ? null : row;
  }

  /** Sees sessions that another process has ended too, such as a command that set a new password. */
  isOpen(id: number): boolean {
    return this.#store.prepare('SELECT 1 FROM sessions WHERE id = ?').get(id) !== undefined;
  }

  end(id: number, reason: EndReason): void {
    this.#end([id], reason);
  }

  /** @param kept a session that goes on */
  endOfAccount(accountId: number, kept: number | null = null): void {
    const ids = this.#idsOf(accountId).filter((id) => id !== kept);
    this.#end(ids, 'account');
  }

  endExpired(): void {
    const rows = this.#store.prepare('SELECT id FROM sessions WHERE expires_at <= ?').all(this.#now()) as Session[];
    this.#end(
      rows.map(({ id }) => id),
      'expired',
    );
  }

  onEnded(listener: (ended: EndedSessions) => void): void {
    this.#listeners.add(listener);
  }

  close(): void {
    clearInterval(this.#sweep);
  }

  #idsOf(accountId: number): number[] {
    const rows = this.#store.prepare('SELECT id FROM sessions WHERE account_id = ? ORDER BY id').all(accountId);
    return (rows as Session[]).map(({ id }) => id);
  }

  #end(sessionIds: readonly number[], reason: EndReason): void {
    const remove = this.#store.prepare('DELETE FROM sessions WHERE id = ?');
    const removed = sessionIds.filter((id) => remove.run(id).changes > 0);
    if (removed.length === 0) return;
    // After the transaction that may surround this call, and that throws if it fails.
    queueMicrotask(() => {
      for (const listener of this.#listeners) listener({ sessionIds: removed, reason });
    });
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
