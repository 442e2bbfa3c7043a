import { createServer, type Server, Socket } from 'node:net';

const OP_MSG = 2013;
const HEADER_BYTES = 16;
/** What the driver sends by itself. */
const OWN_COMMANDS = [
  'hello',
  'ismaster',
  'isMaster',
  'ping',
  'endSessions',
  'killCursors',
  'saslStart',
  'saslContinue',
];

/**
 * A way to a MongoDB server that breaks for good before a chosen command, as if the sidecar had crashed there: nothing
 * that it would have done from then on reaches the server.
 */
export class Cutter {
  readonly url: string;
  /** Commands that went through. */
  commands = 0;
  #limit = Infinity;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #cut: Promise<void>;
  #tellCut: () => void = () => {};

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
    this.#cut = new Promise((resolve) => {
      this.#tellCut = resolve;
    });
  }

  static async open(serverUrl: string): Promise<Cutter> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const target = new URL(serverUrl);
    const own = new URL(serverUrl);
    own.port = String(address.port);
    const cutter = new Cutter(server, own.href);
    server.on('connection', (socket) => cutter.#connect(socket, Number(target.port), target.hostname));
    return cutter;
  }

  /** The next `commands` go through, and none after them. Resolves when that has come about. */
  cutAfter(commands: number): Promise<void> {
    this.commands = 0;
    this.#limit = commands;
    return this.#cut;
  }

  /** Ends everything; no more connections. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #connect(client: Socket, port: number, host: string): void {
    if (this.commands > this.#limit) {
      client.destroy();
      return;
    }
    const upstream = new Socket().connect(port, host);
    for (const socket of [client, upstream]) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    upstream.pipe(client);
    let rest = Buffer.alloc(0);
    client.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 4 && rest.length >= rest.readInt32LE(0)) {
        const message = rest.subarray(0, rest.readInt32LE(0));
        rest = rest.subarray(message.length);
        if (!this.#mayPass(message)) return;
        upstream.write(message);
      }
    });
  }

  #mayPass(message: Buffer): boolean {
    const name = commandOf(message);
    if (name === null || OWN_COMMANDS.includes(name)) return this.commands <= this.#limit;
    this.commands += 1;
    if (this.commands <= this.#limit) return true;
    for (const socket of this.#sockets) socket.destroy();
    this.#tellCut();
    return false;
  }
}

/** The first field of the first document is the command's name. */
function commandOf(message: Buffer): string | null {
  if (message.readInt32LE(12) !== OP_MSG) return null;
  const nameAt = HEADER_BYTES + 4 + 1 + 4 + 1;
  return message.toString('latin1', nameAt, message.indexOf(0, nameAt));
}
