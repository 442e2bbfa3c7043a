import { type AuditChange, type AuditEntry, MAX_AUDIT_VALUE_CHARS } from '../shapes/accounts.ts';
import type { PanelStore } from '../store/panel-store.ts';

export interface AuditNote extends Omit<AuditEntry, 'id' | 'time' | 'changes' | 'token'> {
  /** Name of the token that the request came with. */
  readonly token?: string;
  readonly changes?: readonly AuditChange[];
}

export interface AuditPageOptions {
  /** Only entries of this account; empty: entries without a session. */
  readonly username?: string | null;
  /** Include values of the game's rows, which not every reader of the log may see. */
  readonly hasRowValues?: boolean;
}

/** Bounds of entries. Refusals have their own, so that a thousand refusals do not remove entries of real actions. */
export interface AuditBounds {
  readonly done: number;
  readonly refused: number;
  /** Bound per action and account, so that a repeated harmless action does not remove other entries. */
  readonly ofOne: number;
}

const BOUNDS: AuditBounds = { done: 50_000, refused: 10_000, ofOne: 2_000 };
/** Entries between two removals of rows beyond the bounds. */
const TRIM_EVERY = 200;
const LONGEST_SUBJECT = 500;
const MAX_CHANGES = 10;
const MAX_USERNAMES = 500;
/** Each commit waits for the disk on the thread that serves the game, so refusals, which any client can cause, share commits. */
const REFUSALS_EVERY_MS = 500;
const MOST_WAITING = 1000;
/** Wait before failed writes are retried. */
const RETRY_MS = 5000;

export interface AuditOptions {
  readonly store: PanelStore;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly bounds?: AuditBounds;
  /** Called for failures of later writes, which no request can report. */
  readonly onTrouble: (error: unknown) => void;
}

/** Account, action, and whether it was done: 1 or 0. */
type Written = readonly [string, string, number];

export interface KnownAddress {
  readonly address: string;
  /** Epoch milliseconds. */
  readonly lastAt: number;
}

interface TimedNote extends AuditNote {
  readonly time: number;
}

interface Row extends Omit<AuditEntry, 'time' | 'changes' | 'token'> {
  readonly token: string | null;
  readonly time: number;
  readonly changes: string | null;
}

/** Actions of accounts. Written by the panel; no route changes an entry. */
export class AuditLog {
  readonly #store: PanelStore;
  readonly #now: () => number;
  readonly #bounds: AuditBounds;
  readonly #onTrouble: (error: unknown) => void;
  /** Refusals that are not written yet; bounded, further ones are dropped. */
  #waiting: TimedNote[] = [];
  readonly #listeners: ((note: AuditNote) => void)[] = [];
  #timer: NodeJS.Timeout | null = null;
  #sinceTrim = 0;
  /** Keys of the entries written since the last trim. */
  readonly #written = new Map<string, Written>();

  constructor({ store, now, bounds = BOUNDS, onTrouble }: AuditOptions) {
    this.#store = store;
    this.#now = now;
    this.#bounds = bounds;
    this.#onTrouble = onTrouble;
  }

  /** Called with each note before it is written. */
  onNote(listener: (note: AuditNote) => void): void {
    this.#listeners.push(listener);
  }

  /** Addresses from which the account signed in, and when last. */
  signInAddresses(username: string): KnownAddress[] {
    return this.#store
      .prepare(
        `SELECT address, max(time) AS lastAt FROM audit WHERE username = ? AND action = 'login' AND result = 'ok'
          GROUP BY address`,
      )
      .all(username) as KnownAddress[];
  }

  write(note: AuditNote): void {
    for (const listener of this.#listeners) listener(note);
    const isFull = this.#waiting.length >= MOST_WAITING;
    if (note.result === 'ok' || !isFull) this.#waiting.push({ ...note, time: this.#now() });
    if (note.result === 'ok') this.#flush();
    else this.#flushIn(REFUSALS_EVERY_MS);
  }

  /** Newest first; `before` is the last id of the previous page. */
  page(before: number | null, limit: number, { username, hasRowValues }: AuditPageOptions = {}): AuditEntry[] {
    this.#flush();
    const isOfOne = typeof username === 'string';
    const rows = this.#store
      .prepare(
        `SELECT audit.*, audit_changes.changes, audit_tokens.token FROM audit
          LEFT JOIN audit_changes USING (id) LEFT JOIN audit_tokens USING (id)
          WHERE ${isOfOne ? 'username = ? AND' : ''} audit.id < ? ORDER BY audit.id DESC LIMIT ?`,
      )
      .all(...(isOfOne ? [username] : []), before ?? Number.MAX_SAFE_INTEGER, limit) as Row[];
    return rows.map(({ changes, time, token, ...row }) => ({
      ...row,
      token: token ?? '',
      time: new Date(time).toISOString(),
      changes:
        changes === null || (isOfRows(row.action) && hasRowValues !== true)
          ? []
          : (JSON.parse(changes) as AuditChange[]),
    }));
  }

  /** Accounts that have entries, in order. */
  usernames(): string[] {
    const rows = this.#store
      .prepare('SELECT DISTINCT username FROM audit ORDER BY username LIMIT ?')
      .all(MAX_USERNAMES) as Pick<Row, 'username'>[];
    return rows.map(({ username }) => username);
  }

  /** Before the store closes. */
  close(): void {
    this.#flushLater();
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #flushIn(ms: number): void {
    this.#timer ??= setTimeout(() => this.#flushLater(), ms).unref();
  }

  #flushLater(): void {
    try {
      this.#flush();
    } catch (error) {
      this.#onTrouble(error);
    }
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const notes = this.#waiting;
    this.#waiting = [];
    if (notes.length === 0) return;
    try {
      this.#insert(notes);
    } catch (error) {
      // Written when the file can be written again; the newest stay.
      this.#waiting = notes.slice(-MOST_WAITING);
      this.#flushIn(RETRY_MS);
      throw error;
    }
  }

  #insert(notes: readonly TimedNote[]): void {
    const insert = this.#store.prepare(
      'INSERT INTO audit (time, username, action, subject, address, result) VALUES (?, ?, ?, ?, ?, ?)',
    );
    const insertChanges = this.#store.prepare('INSERT INTO audit_changes (id, changes) VALUES (?, ?)');
    const insertToken = this.#store.prepare('INSERT INTO audit_tokens (id, token) VALUES (?, ?)');
    this.#store.transaction(() => {
      for (const { time, username, action, subject, address, result, changes = [], token = '' } of notes) {
        const { lastInsertRowid } = insert.run(time, username, action, shown(subject), address, result);
        if (changes.length > 0)
          insertChanges.run(lastInsertRowid, JSON.stringify(changes.slice(0, MAX_CHANGES).map(cut)));
        if (token !== '') insertToken.run(lastInsertRowid, token);
        const written: Written = [username, action, Number(result === 'ok')];
        this.#written.set(written.join('\n'), written);
      }
      this.#sinceTrim += notes.length;
      if (this.#sinceTrim >= TRIM_EVERY) this.#trim();
    })();
  }

  #trim(): void {
    this.#sinceTrim = 0;
    for (const written of this.#written.values()) this.#trimOne(written);
    this.#written.clear();
    for (const [isDone, most] of [
      [1, this.#bounds.done],
      [0, this.#bounds.refused],
    ]) {
      this.#store
        .prepare(
          `DELETE FROM audit WHERE (result = 'ok') = ? AND id <=
            (SELECT id FROM audit WHERE (result = 'ok') = ? ORDER BY id DESC LIMIT 1 OFFSET ?)`,
        )
        .run(isDone, isDone, most);
    }
  }

  #trimOne(written: Written): void {
    const those = "username = ? AND action = ? AND (result = 'ok') = ?";
    this.#store
      .prepare(
        `DELETE FROM audit WHERE ${those} AND id <=
          (SELECT id FROM audit WHERE ${those} ORDER BY id DESC LIMIT 1 OFFSET ?)`,
      )
      .run(...written, ...written, this.#bounds.ofOne);
  }
}

function isOfRows(action: string): boolean {
  return action.startsWith('database.');
}

function cut({ name, before, after }: AuditChange): AuditChange {
  return { name: name.slice(0, MAX_AUDIT_VALUE_CHARS), before: cutValue(before), after: cutValue(after) };
}

function cutValue(text: string): string {
  return text.length > MAX_AUDIT_VALUE_CHARS ? `${text.slice(0, MAX_AUDIT_VALUE_CHARS)}…` : text;
}

/** The subject as one line. */
function shown(subject: string): string {
  return subject.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, LONGEST_SUBJECT);
}
