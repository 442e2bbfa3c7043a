import { connect, createServer, type Socket } from 'node:net';

const COM_STMT_CLOSE = 0x19;
const COM_STMT_EXECUTE = 0x17;
const COM_QUERY = 0x03;

const COMMIT_FAILED = errorPacket(1180, '#HY000Not connected to Primary Component');
const DEADLOCK = errorPacket(1213, '#40001Deadlock found when trying to get lock');

/** Packet 1 of an answer. */
function errorPacket(code: number, text: string): Buffer {
  const body = Buffer.concat([Buffer.from([0xff, code % 256, code >> 8]), Buffer.from(text)]);
  return Buffer.concat([Buffer.from([body.length, 0, 0, 1]), body]);
}

/** Between an engine and its server: counts what is asked, and loses or withholds answers. */
export interface MysqlProxy {
  readonly url: string;
  /** Commands that were sent and that the server answers, since the last time this was asked. */
  roundTrips(): number;
  readonly connections: number;
  /** The next statement reaches the server, and the connection is cut when its answer comes. */
  cutNextAnswer(): void;
  /** The next statement, or the next COMMIT, is done, and answered as by a node of Galera that was cut off in its commit (1180). */
  doubtNext(what: 'statement' | 'commit'): void;
  /** The next statement is done, and answered like that; each one after it is answered as the victim of a deadlock. */
  doubtNextAndDeadlock(): void;
  /**
   * The next `commands` go through, and nothing after them: of the last one not even its answer, if that `isLost`.
   * Connections are cut then, and new ones too. Resolves when that has come about.
   */
  dieAfter(commands: number, isLost: boolean): Promise<void>;
  /** Nothing is passed on any more, in either direction; connections stay open. */
  freeze(): void;
  thaw(): void;
  /** Cuts all connections. */
  cut(): void;
  close(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

export async function startProxy(serverUrl: string): Promise<MysqlProxy> {
  const target = new URL(serverUrl);
  const pairs = new Set<Pair>();
  const state = { asked: 0, isFrozen: false, isCutting: false, isDeadlocking: false, doubted: null as number | null };
  const death = new Death();
  const listener = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    const pair = { client, server };
    pairs.add(pair);
    let isMarked = false;
    let doubted: 'no' | 'next' | 'told' = 'no';
    let inPlace = COMMIT_FAILED;
    const heads = new PacketHeads((sequence, command) => {
      if (sequence !== 0 || command === COM_STMT_CLOSE) return;
      state.asked += 1;
      death.count();
      if (command === COM_STMT_EXECUTE && state.isCutting) isMarked = true;
      if (command !== COM_STMT_EXECUTE) return;
      if (state.doubted === command) doubt();
      else if (state.isDeadlocking) answerWith(DEADLOCK);
    });
    const doubt = (): void => {
      state.doubted = null;
      answerWith(COMMIT_FAILED);
    };
    const answerWith = (packet: Buffer): void => {
      doubted = 'next';
      inPlace = packet;
    };
    client.on('data', (data) => {
      doubted = 'no';
      heads.push(data);
      if (state.doubted === COM_QUERY && data.includes('COMMIT')) doubt();
      if (death.isPast) cutAll();
      else server.write(data);
    });
    server.on('data', (data) => {
      if (death.isAnswerLost) cutAll();
      else if (isMarked) {
        state.isCutting = false;
        end(pair);
      } else if (doubted !== 'no') {
        if (doubted === 'next') client.write(inPlace);
        doubted = 'told';
      } else client.write(data);
    });
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.on('close', () => end(pair));
    }
    if (state.isFrozen) pause(pair);
    if (death.isDone) end(pair);
  });
  const cutAll = (): void => {
    death.tell();
    for (const pair of pairs) end(pair);
  };
  const end = (pair: Pair): void => {
    pairs.delete(pair);
    pair.client.destroy();
    pair.server.destroy();
  };
  const pause = ({ client, server }: Pair): void => {
    client.pause();
    server.pause();
  };
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const url = new URL(serverUrl);
  url.hostname = '127.0.0.1';
  url.port = String(address.port);
  return {
    url: url.href,
    roundTrips() {
      const { asked } = state;
      state.asked = 0;
      return asked;
    },
    get connections() {
      return pairs.size;
    },
    cutNextAnswer() {
      state.isCutting = true;
    },
    doubtNext(what) {
      state.doubted = what === 'commit' ? COM_QUERY : COM_STMT_EXECUTE;
    },
    doubtNextAndDeadlock() {
      state.doubted = COM_STMT_EXECUTE;
      state.isDeadlocking = true;
    },
    dieAfter: (commands, isLost) => death.after(commands, isLost),
    freeze() {
      state.isFrozen = true;
      for (const pair of pairs) pause(pair);
    },
    thaw() {
      state.isFrozen = false;
      for (const { client, server } of pairs) {
        client.resume();
        server.resume();
      }
    },
    cut() {
      for (const pair of pairs) end(pair);
    },
    async close() {
      for (const pair of pairs) end(pair);
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

/** When nothing more goes through. */
class Death {
  isDone = false;
  #left = Infinity;
  #isLost = false;
  #tell: () => void = () => {};

  after(commands: number, isLost: boolean): Promise<void> {
    this.#left = commands;
    this.#isLost = isLost;
    return new Promise((resolve) => {
      this.#tell = resolve;
    });
  }

  count(): void {
    this.#left -= 1;
  }

  get isPast(): boolean {
    return this.#left < 0;
  }

  get isAnswerLost(): boolean {
    return this.#isLost && this.#left <= 0;
  }

  tell(): void {
    this.isDone = true;
    this.#tell();
  }
}

/** Finds the packets in a stream: three bytes of length, the sequence number, then the command. */
class PacketHeads {
  readonly #found: (sequence: number, command: number) => void;
  #rest: Buffer = Buffer.alloc(0);
  #skip = 0;

  constructor(found: (sequence: number, command: number) => void) {
    this.#found = found;
  }

  push(data: Buffer): void {
    let bytes = Buffer.concat([this.#rest, data]);
    for (;;) {
      const skipped = Math.min(this.#skip, bytes.length);
      this.#skip -= skipped;
      bytes = bytes.subarray(skipped);
      if (this.#skip > 0 || bytes.length < 5) break;
      this.#found(bytes.readUInt8(3), bytes.readUInt8(4));
      this.#skip = bytes.readUIntLE(0, 3) + 4;
    }
    this.#rest = bytes;
  }
}
