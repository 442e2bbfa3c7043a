import type { Writable } from 'node:stream';
import { type Access, mayCall, narrowed } from '../http/route.ts';
import type { Permission } from '../shapes/permissions.ts';
import { COMMENT, encodeEvent } from './encode-event.ts';
import type { LineFeed } from './line-feed.ts';

/** Reason why the panel ends a stream, as in the event `bye`. */
export type ByeReason = 'logout' | 'account' | 'expired' | 'shutdown';

export interface Reader {
  readonly accountId: number;
  /** Null for a reader with a token. */
  readonly sessionId: number | null;
  /** Id and listed permissions of the token, or null. */
  readonly token: { readonly id: number; readonly permissions: ReadonlySet<Permission> } | null;
  readonly permissions: ReadonlySet<Permission>;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** Unsent comments after which a reader counts as gone: two minutes. */
const MOST_STALLED_BEATS = 8;
/** Time for the last event to arrive before the connection is cut. */
const FAREWELL_MS = 1000;

/**
 * A reader of events. Stores only the number of the last sent line, and the latest of each other event: a slow reader costs
 * no memory, and gets a `gap` for lines that it has missed.
 */
export class EventStream {
  readonly reader: Reader;
  readonly #out: Writable;
  readonly #feed: LineFeed;
  readonly #waiting = new Map<string, Buffer>();
  #permissions: ReadonlySet<Permission>;
  #seq: number;
  #hasRoom = true;
  #stalledBeats = 0;
  #isEnding = false;

  /** @param after the last line that the reader has; null: only new lines */
  constructor(reader: Reader, out: Writable, feed: LineFeed, after: number | null) {
    this.reader = reader;
    this.#permissions = reader.permissions;
    this.#out = out;
    this.#feed = feed;
    // A number above the newest is from another run of the panel.
    this.#seq = after === null || after > feed.newest ? feed.newest : after;
    out.on('drain', () => this.#onDrain());
  }

  can(permission: Permission): boolean {
    return this.#permissions.has(permission);
  }

  mayRead(access: Access): boolean {
    return mayCall(access, this.#permissions);
  }

  /** Sends an event whose later values replace it. */
  send(name: string, bytes: Buffer): void {
    if (this.#hasRoom) this.#write(bytes);
    else this.#waiting.set(name, bytes);
  }

  /** @param held by the account; a token narrows them */
  changePermissions(held: ReadonlySet<Permission>): void {
    const { token } = this.reader;
    const permissions = token === null ? held : narrowed(held, token.permissions);
    const couldRead = this.can('console.read');
    this.#permissions = permissions;
    // The reader may have lost the permission for waiting events.
    this.#waiting.clear();
    this.send('permissions', encodeEvent('permissions', { permissions: [...permissions] }));
    if (!couldRead) this.#seq = this.#feed.newest;
  }

  /** Writes lines while the reader takes them. */
  pump(): void {
    if (!this.can('console.read')) return;
    while (this.#hasRoom && !this.#isEnding) {
      const chunk = this.#feed.chunkAfter(this.#seq);
      if (chunk === null) return;
      this.#write(chunk.bytes);
      this.#seq = chunk.to;
    }
  }

  /** Every 15 s: a comment that keeps the stream alive for proxies and the reader. */
  beat(): void {
    if (this.#hasRoom) this.#write(COMMENT);
    else this.#stalledBeats += 1;
    if (this.#stalledBeats >= MOST_STALLED_BEATS) this.#out.destroy();
  }

  end(reason: ByeReason): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#waiting.clear();
    this.#out.end(encodeEvent('bye', { reason }));
    const cut = setTimeout(() => this.#out.destroy(), FAREWELL_MS);
    this.#out.on('close', () => clearTimeout(cut));
  }

  #write(bytes: Buffer): void {
    if (!this.#isEnding && !this.#out.destroyed) this.#hasRoom = this.#out.write(bytes);
  }

  #onDrain(): void {
    this.#hasRoom = true;
    this.#stalledBeats = 0;
    for (const [name, bytes] of this.#waiting) {
      if (!this.#hasRoom) break;
      this.#waiting.delete(name);
      this.#write(bytes);
    }
    this.pump();
  }
}
