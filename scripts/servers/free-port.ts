import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below the ports that systems hand out for outgoing connections: those could take a server's port while it restarts.
const FIRST_PORT = 20_000;
const LAST_PORT = 31_999;

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

/** A port of the loopback that no program listens on now. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    if (await canListen(port)) return port;
  }
  throw new Error(`No free port between ${FIRST_PORT} and ${LAST_PORT}.`);
}
