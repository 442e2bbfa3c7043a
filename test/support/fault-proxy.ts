import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy on the loopback between an engine and its server, which can be hurt without hurting the server. */
export interface FaultProxy {
  /** The URL of the server, led through the proxy. */
  readonly url: string;
  /** Connections that are open now. */
  connections(): number;
  /** Bytes that the server has sent since the proxy began. */
  answeredBytes(): number;
  /** Nothing goes through in either direction, and new connections are taken and left alone, until `resume`. */
  hang(): void;
  resume(): void;
  /** The server's next answer is lost: it ends every connection, and then all is well again. */
  cutAtNextAnswer(): void;
  /** The same after so many more answers have come through. */
  cutAfterAnswers(count: number): void;
  /** Ends every connection. */
  cut(): void;
  stop(): Promise<void>;
}

export async function startFaultProxy(serverUrl: string): Promise<FaultProxy> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let isHung = false;
  let bytes = 0;
  let answersLeft = Number.POSITIVE_INFINITY;
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((client) => {
    const upstream = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    client.setNoDelay(true);
    client.on('data', (chunk) => upstream.write(chunk));
    upstream.on('data', (chunk) => {
      bytes += chunk.length;
      if (answersLeft > 0) {
        answersLeft -= 1;
        client.write(chunk);
      } else {
        answersLeft = Number.POSITIVE_INFINITY;
        cut();
      }
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      if (isHung) socket.pause();
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
    connections: () => sockets.size / 2,
    answeredBytes: () => bytes,
    hang() {
      isHung = true;
      for (const socket of sockets) socket.pause();
    },
    resume() {
      isHung = false;
      for (const socket of sockets) socket.resume();
    },
    cutAtNextAnswer() {
      answersLeft = 0;
    },
    cutAfterAnswers(count) {
      answersLeft = count;
    },
    cut,
    async stop() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
