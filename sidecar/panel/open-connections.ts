import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf, readAddress } from '../security/addresses.ts';

export interface ConnectionBounds {
  readonly most: number;
  /** The same for one network, as `networkOf` returns it. */
  readonly mostOfNetwork: number;
}

/** Time in which the head of a request must arrive, and how often that is looked at. */
export const HEAD_TIMES = { headersTimeout: 2000, connectionsCheckingInterval: 500 } as const;

interface OpenConnection {
  readonly socket: Socket;
  /** Requests whose answer is not sent. */
  requests: number;
}

/**
 * The open connections of a server, bounded together and for each network. At a bound a new connection replaces the oldest
 * one without a request; if all carry one, the new connection is closed.
 */
export class OpenConnections {
  readonly #bounds: ConnectionBounds;
  /** Oldest first. */
  readonly #byNetwork = new Map<string, Set<OpenConnection>>();
  readonly #bySocket = new WeakMap<Socket, OpenConnection>();
  #open = 0;

  constructor(bounds: ConnectionBounds) {
    this.#bounds = bounds;
  }

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#add(socket));
    const countRequest = ({ socket }: IncomingMessage, response: ServerResponse) => {
      const connection = this.#bySocket.get(socket);
      if (connection === undefined) return;
      connection.requests += 1;
      response.once('close', () => {
        connection.requests -= 1;
      });
    };
    server.prependListener('request', countRequest);
    server.prependListener('checkExpectation', countRequest);
  }

  #add(socket: Socket): void {
    const network = networkOf(readAddress(socket.remoteAddress ?? '') ?? '');
    const connections = this.#byNetwork.get(network) ?? new Set();
    if (!this.#makeRoom(connections)) {
      socket.destroy();
      return;
    }
    const connection = { socket, requests: 0 };
    this.#byNetwork.set(network, connections.add(connection));
    this.#bySocket.set(socket, connection);
    this.#open += 1;
    socket.once('close', () => this.#remove(network, connection));
  }

  /** False if every connection carries a request. */
  #makeRoom(ofNetwork: Set<OpenConnection>): boolean {
    if (ofNetwork.size >= this.#bounds.mostOfNetwork) return this.#closeIdle(ofNetwork);
    if (this.#open < this.#bounds.most) return true;
    const networks = [...this.#byNetwork.values()].sort((a, b) => b.size - a.size);
    return networks.some((connections) => this.#closeIdle(connections));
  }

  #closeIdle(connections: Set<OpenConnection>): boolean {
    for (const connection of connections) {
      if (connection.requests > 0) continue;
      // Its event comes later.
      connections.delete(connection);
      this.#open -= 1;
      connection.socket.destroy();
      return true;
    }
    return false;
  }

  #remove(network: string, connection: OpenConnection): void {
    const connections = this.#byNetwork.get(network);
    if (connections?.delete(connection) === true) this.#open -= 1;
    if (connections?.size === 0) this.#byNetwork.delete(network);
  }
}
