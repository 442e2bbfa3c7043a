import { createHash, randomBytes } from 'node:crypto';
import { PanelError } from '../panel-error.ts';
import type { BridgeToken } from '../shapes/bridge.ts';
import type { PanelStore } from '../store/panel-store.ts';

const TOKEN_BYTES = 32;
/** A name tells people which machine has the token. */
const NAME = /^[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u;
const MOST_TOKENS = 100;

interface Row {
  readonly id: number;
  readonly name: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
}

/** Tokens with which other machines send lines. Stored as hashes: a reader of the store cannot send. */
export class BridgeTokens {
  readonly #store: PanelStore;
  readonly #now: () => number;

  constructor(store: PanelStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  list(): BridgeToken[] {
    const rows = this.#store.prepare('SELECT * FROM bridge_tokens ORDER BY id').all() as Row[];
    return rows.map(({ id, name, created_at, last_used_at }) => ({
      id,
      name,
      createdAt: created_at,
      lastUsedAt: last_used_at,
    }));
  }

  /** Returns the token, which is stored nowhere. @throws PanelError `bridge.name` */
  create(name: string): { readonly id: number; readonly token: string } {
    if (!NAME.test(name) || name.trim() !== name) {
      throw new PanelError('bridge.name', { field: 'name', detail: 'expected 1 to 64 characters that can be seen' });
    }
    const { count } = this.#store.prepare('SELECT count(*) AS count FROM bridge_tokens').get() as { count: number };
    if (count >= MOST_TOKENS) {
      throw new PanelError('bridge.name', { detail: `there are ${MOST_TOKENS} tokens; revoke those that nobody uses` });
    }
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const { lastInsertRowid } = this.#store
      .prepare('INSERT INTO bridge_tokens (name, hash, created_at) VALUES (?, ?, ?)')
      .run(name, hashOf(token), this.#timeOf(this.#now()));
    return { id: Number(lastInsertRowid), token };
  }

  /** @throws PanelError `bridge.unknown` */
  revoke(id: number): void {
    const { changes } = this.#store.prepare('DELETE FROM bridge_tokens WHERE id = ?').run(id);
    if (changes === 0) throw new PanelError('bridge.unknown', { field: 'id' });
  }

  /**
   * Finds the token and stores its use, or returns null. Looks up the hash, so that timing only reveals something about a hash
   * that a stranger cannot choose.
   */
  use(token: string): BridgeToken | null {
    const row = this.#store.prepare('SELECT * FROM bridge_tokens WHERE hash = ?').get(hashOf(token)) as Row | undefined;
    if (row === undefined) return null;
    const lastUsedAt = this.#timeOf(this.#now());
    // Precise enough to find unused tokens, and avoids a write per batch.
    if (row.last_used_at?.slice(0, 13) !== lastUsedAt.slice(0, 13)) {
      this.#store.prepare('UPDATE bridge_tokens SET last_used_at = ? WHERE id = ?').run(lastUsedAt, row.id);
    }
    return { id: row.id, name: row.name, createdAt: row.created_at, lastUsedAt };
  }

  #timeOf(now: number): string {
    return new Date(now).toISOString();
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
