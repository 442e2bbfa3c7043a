import { createServer, type Server, Socket } from 'node:net';

const OP_MSG = 2013;
const HEADER_BYTES = 16;
const BSON_STRING = 2;
/** Commands that the driver sends by itself. */
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
 * that it would have done from then on reaches the server. Or it holds the command back, as if the sidecar were slow.
 */
export class Cutter {
  readonly url: string;
  /** Commands that went through. */
  commands = 0;
  /** Commands of the engine that went through since the beginning. */
  readonly passed: Command[] = [];
  #limit = Infinity;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #cut: Promise<void>;
  #tellCut: () => void = () => {};
  #holdAt = Infinity;
  #heldBehind: Command | null = null;
  #tellHeld: () => void = () => {};
  readonly #waiting: (() => void)[] = [];

  readonly #uncounted: readonly string[];

  private constructor(server: Server, url: string, uncounted: readonly string[]) {
    this.#server = server;
    this.#uncounted = uncounted;
    this.url = url;
    this.#cut = new Promise((resolve) => {
      this.#tellCut = resolve;
    });
  }

  /** Commands on the collections `uncounted` pass until the cut and do not count. */
  static async open(serverUrl: string, uncounted: readonly string[] = []): Promise<Cutter> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const target = new URL(serverUrl);
    const own = new URL(serverUrl);
    own.port = String(address.port);
    const cutter = new Cutter(server, own.href, uncounted);
    server.on('connection', (socket) => cutter.#connect(socket, Number(target.port), target.hostname));
    return cutter;
  }

  /** The next `commands` go through, and none after them. Resolves when that has come about. */
  cutAfter(commands: number): Promise<void> {
    this.commands = 0;
    this.#limit = commands;
    return this.#cut;
  }

  /** The next `commands` go through; the one after them waits until `release`. Resolves when it has come. */
  holdAfter(commands: number): Promise<void> {
    this.commands = 0;
    this.#holdAt = commands;
    return new Promise((resolve) => {
      this.#tellHeld = resolve;
    });
  }

  /** The command behind the next one of this kind waits until `release`. Resolves when it has come. */
  holdBehind(name: string, collection: string): Promise<void> {
    this.#heldBehind = { name, collection };
    return new Promise((resolve) => {
      this.#tellHeld = resolve;
    });
  }

  release(): void {
    this.#holdAt = Infinity;
    for (const goOn of this.#waiting.splice(0)) goOn();
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
    const pass = (): void => {
      while (rest.length >= 4 && rest.length >= rest.readInt32LE(0)) {
        const message = rest.subarray(0, rest.readInt32LE(0));
        if (this.#isHeld(message)) {
          this.#tellHeld();
          this.#waiting.push(pass);
          return;
        }
        rest = rest.subarray(message.length);
        if (!this.#mayPass(message)) return;
        upstream.write(message);
      }
    };
    client.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      pass();
    });
  }

  #isCounted(message: Buffer): boolean {
    const { name, collection } = commandOf(message);
    return name !== null && !OWN_COMMANDS.includes(name) && !this.#uncounted.includes(collection);
  }

  #isHeld(message: Buffer): boolean {
    return this.commands >= this.#holdAt && this.#isCounted(message);
  }

  #mayPass(message: Buffer): boolean {
    if (!this.#isCounted(message)) return this.commands <= this.#limit;
    this.commands += 1;
    if (this.commands <= this.#limit) {
      this.#pass(commandOf(message));
      return true;
    }
    for (const socket of this.#sockets) socket.destroy();
    this.#tellCut();
    return false;
  }

  #pass(command: Command): void {
    this.passed.push(command);
    const { name, collection } = this.#heldBehind ?? {};
    if (command.name !== name || command.collection !== collection) return;
    this.#heldBehind = null;
    this.#holdAt = this.commands;
  }
}

interface Command {
  readonly name: string | null;
  /** With the database before it in `renameCollection`. */
  readonly collection: string;
}

/** The first field of the first document is the command's name, and its value mostly the collection. */
function commandOf(message: Buffer): Command {
  if (message.readInt32LE(12) !== OP_MSG) return { name: null, collection: '' };
  const nameAt = HEADER_BYTES + 4 + 1 + 4 + 1;
  const nameEnd = message.indexOf(0, nameAt);
  const name = message.toString('latin1', nameAt, nameEnd);
  if (message[nameAt - 1] !== BSON_STRING) return { name, collection: '' };
  const valueAt = nameEnd + 1 + 4;
  return { name, collection: message.toString('latin1', valueAt, message.indexOf(0, valueAt)) };
}
