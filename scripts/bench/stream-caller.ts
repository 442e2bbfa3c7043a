import { WebSocket } from 'ws';
import { readAnswerFrames, STREAM_PATH, STREAM_PROTOCOL } from '#protocol/stream-frames.ts';
import type { Turn } from './turns.ts';

/** A stream with `inFlight` calls under way: each answer makes room for the next call. */
export class StreamCaller {
  readonly #socket: WebSocket;
  readonly #next: () => { nonce: string; frame: Buffer };
  readonly #turn: Turn;
  readonly #onAnswer: (status: number, ms: number, bytes: number) => void;
  readonly ended = Promise.withResolvers<void>();
  readonly #sentAt = new Map<string, number>();
  #frames: Buffer[] = [];
  #isStopping = false;

  constructor(
    port: number,
    inFlight: number,
    next: () => { nonce: string; frame: Buffer },
    turn: Turn,
    onAnswer: (status: number, ms: number, bytes: number) => void,
  ) {
    this.#next = next;
    this.#turn = turn;
    this.#onAnswer = onAnswer;
    this.#socket = new WebSocket(`ws://127.0.0.1:${port}${STREAM_PATH}`, STREAM_PROTOCOL, { perMessageDeflate: false });
    this.#socket.on('open', () => {
      for (let count = 0; count < inFlight; count += 1) this.#send();
      this.#flush();
    });
    this.#socket.on('message', (message: Buffer) => this.#receive(message));
    this.#socket.on('error', (error) => this.ended.reject(error));
    this.#socket.on('close', () => this.ended.resolve());
  }

  stop(): void {
    this.#isStopping = true;
  }

  #send(): void {
    const turn = this.#turn();
    if (typeof turn !== 'number') return;
    const { nonce, frame } = this.#next();
    this.#sentAt.set(nonce, turn);
    this.#frames.push(frame);
  }

  #flush(): void {
    if (this.#frames.length > 0) this.#socket.send(Buffer.concat(this.#frames));
    this.#frames = [];
  }

  #receive(message: Buffer): void {
    for (const { nonce, status, body } of readAnswerFrames(message)) {
      this.#onAnswer(status, performance.now() - (this.#sentAt.get(nonce) as number), body.length);
      this.#sentAt.delete(nonce);
      if (!this.#isStopping) this.#send();
    }
    this.#flush();
    if (this.#sentAt.size === 0) this.#socket.close();
  }
}
