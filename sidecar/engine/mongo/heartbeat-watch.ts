import type { MongoClient } from 'mongodb';

/** The driver's own limit for one that the server may hold back (`heartbeatFrequencyMS`). */
const AWAITED_MS = 10_000;
const SLACK_MS = 2000;

interface Heartbeat {
  /** `performance.now()`. */
  readonly startedMs: number;
  /** The server answers when it has news, not at once. */
  readonly isAwaited: boolean;
}

/**
 * Whether one of the driver's heartbeats will never end. Version 7.9 sends one over a socket that is gone already where
 * the server closes several connections at the same moment, and waits for that socket without a limit: from then on it
 * looks at the server never again, and every call fails although the server is back.
 */
export class HeartbeatWatch {
  readonly #limitMs: number;
  readonly #pending = new Map<string, Heartbeat>();

  /** @param connectTimeoutMs the driver's, which bounds a heartbeat that ends as it should */
  constructor(connectTimeoutMs: number) {
    this.#limitMs = 2 * connectTimeoutMs + SLACK_MS;
  }

  follow(client: Pick<MongoClient, 'on'>): void {
    client.on('serverHeartbeatStarted', ({ connectionId, awaited }) => {
      this.#pending.set(connectionId, { startedMs: performance.now(), isAwaited: awaited });
    });
    client.on('serverHeartbeatSucceeded', ({ connectionId }) => this.#pending.delete(connectionId));
    client.on('serverHeartbeatFailed', ({ connectionId }) => this.#pending.delete(connectionId));
    client.on('serverClosed', ({ address }) => this.#pending.delete(address));
  }

  get isStuck(): boolean {
    const now = performance.now();
    for (const { startedMs, isAwaited } of this.#pending.values()) {
      if (now - startedMs > this.#limitMs + (isAwaited ? AWAITED_MS : 0)) return true;
    }
    return false;
  }
}
