import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { AddressRanges, isLoopback, readAddress, SOCKET_CLIENT } from './addresses.ts';

/** Sender of a request, as the network shows it. */
export interface Client {
  /** Canonical IP address, or `socket`. */
  readonly address: string;
  readonly isLoopback: boolean;
  /** It came over TLS, to this process or to a trusted proxy. */
  readonly isSecure: boolean;
}

/** Headers of proxies count only from `trustedProxies` (contract section 2). */
export class ClientReader {
  readonly #proxies: AddressRanges;
  readonly #isUnixSocket: boolean;
  readonly #peers = new WeakMap<Socket, Client>();

  constructor(trustedProxies: readonly string[], isUnixSocket: boolean) {
    this.#proxies = new AddressRanges(trustedProxies);
    this.#isUnixSocket = isUnixSocket;
  }

  /** Null if a trusted proxy names an address that cannot be read, or the connection is gone and has none. */
  read(request: IncomingMessage): Client | null {
    const peer = this.#peers.get(request.socket) ?? this.#readPeer(request.socket);
    if (peer === null) return null;
    if (this.#proxies.isEmpty || !this.#proxies.has(peer.address)) return peer;
    const address = this.#forwardedFor(request.headers['x-forwarded-for'], peer.address);
    if (address === null) return null;
    const proto = String(request.headers['x-forwarded-proto'] ?? '')
      .split(',')
      .at(-1)
      ?.trim()
      .toLowerCase();
    const isSecure = proto === '' ? peer.isSecure : proto === 'https';
    return { address, isLoopback: isLoopback(address), isSecure };
  }

  /** The rightmost entry that is not a trusted proxy; if all are, the first. */
  #forwardedFor(header: string | string[] | undefined, peer: string): string | null {
    if (header === undefined) return peer;
    let address = peer;
    for (const entry of String(header).split(',').reverse()) {
      const read = readAddress(entry.trim());
      if (read === null) return null;
      address = read;
      if (!this.#proxies.has(address)) return address;
    }
    return address;
  }

  /** A TCP connection that was reset has no address any more: never one of the box itself for that. */
  #readPeer(socket: Socket): Client | null {
    const address = this.#isUnixSocket ? SOCKET_CLIENT : readAddress(socket.remoteAddress ?? '');
    if (address === null) return null;
    const client = { address, isLoopback: isLoopback(address), isSecure: 'encrypted' in socket };
    this.#peers.set(socket, client);
    return client;
  }
}
