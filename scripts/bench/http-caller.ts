import { connect, type Socket } from 'node:net';
import type { Turn } from './turns.ts';

const HEADER_END = Buffer.from('\r\n\r\n');
/** JSON has no line breaks of its own. */
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** A connection: sends a request, waits for the whole answer, and so on until `stop`. */
export class HttpCaller {
  readonly #socket: Socket;
  readonly #next: () => string;
  readonly #turn: Turn;
  readonly #onAnswer: (status: number, ms: number, bytes: number) => void;
  readonly ended = Promise.withResolvers<void>();
  #received: Buffer = Buffer.alloc(0);
  #sentAt = 0;
  #isStopping = false;

  constructor(
    port: number,
    next: () => string,
    turn: Turn,
    onAnswer: (status: number, ms: number, bytes: number) => void,
  ) {
    this.#next = next;
    this.#turn = turn;
    this.#onAnswer = onAnswer;
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('connect', () => this.#send());
    this.#socket.on('data', (chunk) => this.#receive(chunk));
    this.#socket.on('error', (error) => this.ended.reject(error));
    this.#socket.on('close', () => this.ended.resolve());
  }

  stop(): void {
    this.#isStopping = true;
  }

  #send(): void {
    const turn = this.#turn();
    if (turn === null) this.#socket.end();
    else if (typeof turn === 'number') this.#sendAt(turn);
    else void turn.then((due) => (this.#isStopping ? this.#socket.end() : this.#sendAt(due)));
  }

  #sendAt(due: number): void {
    this.#sentAt = due;
    this.#socket.write(this.#next());
  }

  #receive(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const headEnd = this.#received.indexOf(HEADER_END);
    if (headEnd === -1) return;
    const head = this.#received.toString('latin1', 0, headEnd);
    const bodyBytes = this.#received.length - headEnd - HEADER_END.length;
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
    if (length === undefined && !/\r\ntransfer-encoding: chunked/i.test(head)) {
      throw new Error(`an answer without a length: ${head}`);
    }
    const isWhole = length === undefined ? this.#received.subarray(-5).equals(LAST_CHUNK) : bodyBytes >= Number(length);
    if (!isWhole) return;
    this.#received = Buffer.alloc(0);
    this.#onAnswer(Number(head.slice(9, 12)), performance.now() - this.#sentAt, bodyBytes);
    if (this.#isStopping) this.#socket.end();
    else this.#send();
  }
}
