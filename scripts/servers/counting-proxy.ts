import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy on the loopback that counts how often a client speaks after the server has: the round trips. */
export interface CountingProxy {
  /** The URL of the server, led through the proxy. */
  readonly url: string;
  /** Since the proxy began, over all connections. */
  roundTrips(): number;
  stop(): Promise<void>;
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'postgres:': 5432, 'mysql:': 3306, 'mongodb:': 27017 };

/** `serverUrl` names one host. */
export async function startCountingProxy(serverUrl: string): Promise<CountingProxy> {
  const target = new URL(serverUrl);
  const port = Number(target.port === '' ? DEFAULT_PORTS[target.protocol] : target.port);
  const sockets = new Set<Socket>();
  let roundTrips = 0;
  const server = createServer((client) => {
    const upstream = connect({ host: target.hostname, port, noDelay: true });
    client.setNoDelay(true);
    let isClientsTurn = true;
    client.on('data', (chunk) => {
      if (isClientsTurn) roundTrips += 1;
      isClientsTurn = false;
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      isClientsTurn = true;
      client.write(chunk);
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      // An end that is not in order is the other side's to notice.
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(serverUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    roundTrips: () => roundTrips,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
