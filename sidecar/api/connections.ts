import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { connectionLimit } from '../http/listen.ts';
import type { Log } from '../log.ts';

const WARN_EVERY_MS = 60_000;

/**
 * The open connections of the API, bounded. At the bound a new connection replaces the oldest stranger: a connection that
 * never carried a request with a right signature. Without strangers the new connection is closed.
 */
export class Connections {
  readonly #max: number;
  readonly #log: Log;
  readonly #monotonicNow: () => number;
  /** Oldest first. */
  readonly #strangers = new Set<Socket>();
  /** By the client's address and port, to find the TCP socket below a TLS socket. */
  readonly #tcpByPeer = new Map<string, Socket>();
  readonly #tcpBelow = new WeakMap<Socket, Socket>();
  #open = 0;
  #warnedAtMs = Number.NEGATIVE_INFINITY;

  constructor(max: number, log: Log, monotonicNow: () => number) {
    this.#max = max;
    this.#log = log;
    this.#monotonicNow = monotonicNow;
  }

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#add(socket));
    server.on('secureConnection', (socket: TLSSocket) => {
      const tcp = this.#tcpByPeer.get(peerOf(socket));
      if (tcp !== undefined) this.#tcpBelow.set(socket, tcp);
    });
  }

  /** The connection carried a request with a right signature. */
  know(socket: Socket): void {
    this.#strangers.delete(this.#tcpOf(socket));
  }

  isStranger(socket: Socket): boolean {
    return this.#strangers.has(this.#tcpOf(socket));
  }

  closeStrangers(): void {
    for (const socket of this.#strangers) socket.destroy();
  }

  #tcpOf(socket: Socket): Socket {
    return this.#tcpBelow.get(socket) ?? socket;
  }

  #add(socket: Socket): void {
    const oldest = this.#open < this.#max ? null : this.#oldestStranger();
    if (oldest === undefined) {
      socket.destroy();
      return;
    }
    const peer = peerOf(socket);
    this.#open += 1;
    this.#strangers.add(socket);
    this.#tcpByPeer.set(peer, socket);
    socket.once('close', () => {
      this.#open -= 1;
      this.#strangers.delete(socket);
      if (this.#tcpByPeer.get(peer) === socket) this.#tcpByPeer.delete(peer);
    });
    oldest?.destroy();
  }

  /** Taken out of the strangers. */
  #oldestStranger(): Socket | undefined {
    this.#warn();
    const [oldest] = this.#strangers;
    if (oldest !== undefined) this.#strangers.delete(oldest);
    return oldest;
  }

  #warn(): void {
    const nowMs = this.#monotonicNow();
    if (nowMs - this.#warnedAtMs < WARN_EVERY_MS) return;
    this.#warnedAtMs = nowMs;
    this.#log.warn('too many connections: the oldest ones that never signed a request are closed', { max: this.#max });
  }
}

/** Empty for a Unix socket, which carries no TLS. */
function peerOf(socket: Socket): string {
  return socket.remotePort === undefined ? '' : `${socket.remoteAddress} ${socket.remotePort}`;
}

/** Half of the files that the process may have open: the database, the panel and the logs need the rest. */
export function maxConnections(): number {
  return connectionLimit(1 / 2);
}
