import type { Writable } from 'node:stream';
import type { Access } from '../http/route.ts';
import { PanelError } from '../panel-error.ts';
import type { Permission } from '../shapes/permissions.ts';
import { encodeEvent } from './encode-event.ts';
import { type ByeReason, EventStream, type Reader } from './event-stream.ts';
import { LineFeed, type LineSource } from './line-feed.ts';

export interface EventHubOptions {
  readonly console: LineSource;
  /** State of the server, sent to a new stream at once. */
  readonly status: () => unknown;
  /** Sent to a new stream after the permissions; null if the database is well. */
  readonly databaseTrouble?: () => unknown;
  /** Checked with each comment: another process may have ended the session or the token. */
  readonly isOpen: (reader: Pick<Reader, 'accountId' | 'sessionId' | 'token'>) => boolean;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

const MOST_OF_A_SESSION = 20;
/** Bound per account, which may sign in many times, so that it does not take all streams. */
const MOST_OF_AN_ACCOUNT = 200;
const MOST_STREAMS = 500;
const BEAT_MS = 15_000;
const EXPIRY_MS = 1000;
/** Streams written per turn of the event loop. */
const SLICE = 8;

/** All open event streams. Services publish events; the hub sends each to the streams that may read it. */
export class EventHub {
  readonly #options: EventHubOptions;
  readonly #feed: LineFeed;
  readonly #streams = new Set<EventStream>();
  readonly #timers: readonly NodeJS.Timeout[];
  /** Streams that have new lines to write. */
  readonly #due = new Set<EventStream>();
  /** Events that a new stream gets at once, beside those of the options. */
  readonly #greetings = new Map<string, () => unknown>();
  #isPumping = false;

  constructor(options: EventHubOptions) {
    this.#options = options;
    this.#feed = new LineFeed(options.console, () => this.#pumpAll());
    this.#timers = [
      setInterval(() => this.#beat(), BEAT_MS).unref(),
      setInterval(() => this.#endExpired(), EXPIRY_MS).unref(),
    ];
  }

  get size(): number {
    return this.#streams.size;
  }

  /** @throws PanelError events.tooMany, before the stream is touched */
  checkRoom({ sessionId, token, accountId }: Pick<Reader, 'sessionId' | 'token' | 'accountId'>): void {
    const readers = [...this.#streams].map(({ reader }) => reader);
    const isSame = (reader: Reader) => reader.sessionId === sessionId && reader.token?.id === token?.id;
    const ofSession = readers.filter(isSame).length;
    const ofAccount = readers.filter((reader) => reader.accountId === accountId).length;
    const isFull = readers.length >= MOST_STREAMS || ofAccount >= MOST_OF_AN_ACCOUNT || ofSession >= MOST_OF_A_SESSION;
    if (isFull) throw new PanelError('events.tooMany', { retryAfterSeconds: 5 });
  }

  /** A new stream gets this event at once. */
  greet(name: 'schedule', data: () => unknown): void {
    this.#greetings.set(name, data);
  }

  /** Writes to `out` until it closes. `after`: the last line that the reader has; null: only new lines. */
  open(reader: Reader, out: Writable, after: number | null): void {
    const stream = new EventStream(reader, out, this.#feed, after);
    this.#streams.add(stream);
    out.on('close', () => {
      this.#streams.delete(stream);
      this.#due.delete(stream);
    });
    out.on('error', () => out.destroy());
    stream.send('status', encodeEvent('status', this.#options.status()));
    stream.send('permissions', encodeEvent('permissions', { permissions: [...reader.permissions] }));
    const trouble = this.#options.databaseTrouble?.() ?? null;
    if (trouble !== null) stream.send('health', encodeEvent('health', trouble));
    for (const [name, data] of this.#greetings) stream.send(name, encodeEvent(name, data()));
    stream.pump();
  }

  /** Encodes the event once, for all streams that may read it. */
  publish(
    name: 'status' | 'bundles' | 'health' | 'schedule' | 'notices',
    data: unknown,
    needed: Permission | null = null,
  ): void {
    const bytes = encodeEvent(name, data);
    for (const stream of this.#streams) {
      if (needed === null || stream.can(needed)) stream.send(name, bytes);
    }
  }

  /** A slow reader gets the latest of each job. */
  publishJob(job: { readonly id: string }, access: Access): void {
    const bytes = encodeEvent('job', job);
    for (const stream of this.#streams) {
      if (stream.mayRead(access)) stream.send(`job ${job.id}`, bytes);
    }
  }

  changePermissions(accountId: number, permissions: readonly Permission[]): void {
    const names = new Set(permissions);
    for (const stream of this.#streams) {
      if (stream.reader.accountId === accountId) stream.changePermissions(names);
    }
  }

  endSessions(sessionIds: readonly number[], reason: ByeReason): void {
    for (const stream of this.#streams) {
      if (sessionIds.includes(stream.reader.sessionId ?? 0)) stream.end(reason);
    }
  }

  endTokens(tokenIds: readonly number[], reason: ByeReason): void {
    for (const stream of this.#streams) {
      if (tokenIds.includes(stream.reader.token?.id ?? 0)) stream.end(reason);
    }
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#feed.close();
    for (const stream of this.#streams) stream.end('shutdown');
  }

  #beat(): void {
    for (const stream of this.#streams) {
      if (this.#options.isOpen(stream.reader)) stream.beat();
      else stream.end('account');
    }
  }

  #pumpAll(): void {
    for (const stream of this.#streams) this.#due.add(stream);
    if (!this.#isPumping) this.#pumpSlice();
  }

  /** Writes to a few streams per turn of the event loop, since the API's answers share the thread. */
  #pumpSlice(): void {
    let left = SLICE;
    for (const stream of this.#due) {
      if (left === 0) break;
      left -= 1;
      this.#due.delete(stream);
      stream.pump();
    }
    this.#isPumping = this.#due.size > 0;
    if (this.#isPumping) setImmediate(() => this.#pumpSlice());
  }

  #endExpired(): void {
    const now = this.#options.now();
    for (const stream of this.#streams) {
      if (stream.reader.expiresAt <= now) stream.end('expired');
    }
  }
}
