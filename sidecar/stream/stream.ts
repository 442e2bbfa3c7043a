import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { checkRequestEnvelope, type RequestEnvelope } from '#protocol/envelope.ts';
import { ApiError } from '#protocol/errors.ts';
import {
  type CallFrame,
  CallFrames,
  FrameError,
  STREAM_CLOSE,
  STREAM_DEAD_MS,
  STREAM_MESSAGE_BYTES,
  STREAM_PING_MS,
  writeAnswerFrame,
} from '#protocol/stream-frames.ts';
import type { BodyReader, CountedMessage } from '../http/body.ts';
import type { UnsentAnswers, UnsentOfConnection } from '../http/unsent-answers.ts';
import { type Answer, errorAnswer } from '../operations/answer.ts';
import type { Operations } from '../operations/run.ts';
import type { Client } from '../security/client.ts';

/** Calls without an answer; the socket is not read beyond them. */
const MAX_UNANSWERED = 1024;
/** Characters of their payloads. */
const MAX_UNANSWERED_CHARS = 16_000_000;
/** Calls, and bytes of them, that one turn of the event loop starts: the turns of other clients come between. */
const MAX_STARTED = 128;
const MAX_STARTED_BYTES = 256 * 1024;
/** Answers that the client has not taken; the socket is not read beyond them. */
const MAX_UNSENT_BYTES = 16 * 1024 * 1024;
/** A client that takes no answers for so long is closed. */
const UNSENT_MS = 30_000;
const AUTHENTICATION_MS = 5000;
const MAX_AUTHENTICATION_FAILURES = 20;
/** Time for the client to close its side. */
const CLOSE_MS = 1000;

export interface StreamOptions {
  readonly webSocket: WebSocket;
  /** The connection below. */
  readonly socket: Socket;
  readonly client: Client;
  readonly operations: Operations;
  readonly bodies: BodyReader;
  readonly unsent: UnsentAnswers;
  readonly maxPayloadChars: number;
  /** The stream carried a call with a right signature. */
  onAuthenticated(): void;
  onClose(): void;
}

/** A stream to one client: frames of calls in, frames of answers out, in any order. */
export class Stream {
  readonly #options: StreamOptions;
  readonly #socket: WebSocket;
  readonly #unsent: UnsentOfConnection;
  /** Messages with calls that have not begun. */
  #waiting: CallFrames[] = [];
  #unanswered = 0;
  #unansweredChars = 0;
  #failures = 0;
  #isAuthenticated = false;
  #isStopping = false;
  /** Answers of this turn of the event loop. */
  #answers: Buffer[] = [];
  #answerBytes = 0;
  #isTurnDue = false;
  #unsentTimer: NodeJS.Timeout | null = null;
  #heardAtMs = performance.now();
  #unfinished: CountedMessage | null = null;
  readonly #authenticationTimer: NodeJS.Timeout;
  readonly #pingTimer: NodeJS.Timeout;
  readonly #closed = Promise.withResolvers<void>();
  readonly #idle = Promise.withResolvers<void>();

  constructor(options: StreamOptions) {
    this.#options = options;
    this.#socket = options.webSocket;
    this.#unsent = options.unsent.open(() => this.#socket.terminate());
    this.#authenticationTimer = setTimeout(() => this.#close(STREAM_CLOSE.notAuthenticated), AUTHENTICATION_MS);
    this.#pingTimer = setInterval(() => this.#ping(), STREAM_PING_MS);
    // Before the library sees the bytes, so that the end of a message comes after them.
    options.socket.prependListener('data', (chunk: Buffer) => this.#count(chunk.length));
    this.#socket.on('message', (data: Buffer, isBinary: boolean) => this.#receive(data, isBinary));
    this.#socket.on('pong', () => this.#hear());
    this.#socket.on('ping', () => this.#hear());
    // The socket closes itself after an error of the WebSocket protocol, such as a message over the limit (1009).
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => this.#end());
  }

  /** Answers the calls under way, then closes. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#waiting = [];
    if (this.#unanswered === 0) this.#idle.resolve();
    await Promise.race([this.#idle.promise, this.#closed.promise]);
    this.#flush();
    this.#close(STREAM_CLOSE.goingAway);
    await this.#closed.promise;
  }

  terminate(): void {
    this.#socket.terminate();
  }

  /** Bytes of a message that has not ended; the bounds of unfinished bodies hold for it. */
  #count(bytes: number): void {
    if (this.#unfinished === null) {
      const sender = { address: this.#options.client.address, isStranger: !this.#isAuthenticated };
      this.#unfinished = this.#options.bodies.count(sender, () => this.#socket.terminate());
    }
    this.#unfinished.add(bytes);
  }

  /** Its calls have begun: before, they count as its bytes do. */
  #endMessage(): void {
    this.#unfinished?.end();
    this.#unfinished = null;
  }

  #receive(data: Buffer, isBinary: boolean): void {
    this.#hear();
    if (this.#isStopping || this.#socket.readyState !== this.#socket.OPEN) return;
    try {
      if (!isBinary) throw new FrameError('expected a binary message');
      this.#waiting.push(new CallFrames(data));
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#close(STREAM_CLOSE.brokenFrame, error.message);
      return;
    }
    this.#startWaiting();
  }

  /** Calls that wait, as many as a turn of the event loop may start. */
  #startWaiting(): void {
    let [count, bytes] = [MAX_STARTED, MAX_STARTED_BYTES];
    for (let [message] = this.#waiting; message !== undefined; [message] = this.#waiting) {
      const room = this.#isFull ? 0 : Math.min(count, MAX_UNANSWERED - this.#unanswered);
      const before = message.leftBytes;
      const calls = message.take(room, bytes);
      count -= calls.length;
      bytes -= before - message.leftBytes;
      for (const call of calls) {
        // A call before it may have closed the stream.
        if (this.#socket.readyState !== this.#socket.OPEN) return;
        this.#start(call);
      }
      if (message.leftBytes > 0) break;
      this.#waiting.shift();
      if (this.#waiting.length === 0) this.#endMessage();
    }
    if (this.#waiting.length > 0 && !this.#isFull) this.#nextTurn();
    this.#setReading();
  }

  get #isFull(): boolean {
    return this.#unanswered >= MAX_UNANSWERED || this.#unansweredChars >= MAX_UNANSWERED_CHARS;
  }

  #start(frame: CallFrame): void {
    const chars = frame.payload?.length ?? 0;
    this.#unanswered += 1;
    this.#unansweredChars += chars;
    const answer = (given: Answer) => {
      this.#unansweredChars -= chars;
      this.#answer(frame.nonce, given);
    };
    const operation = this.#options.operations.get(frame.path);
    if (operation === undefined) {
      answer(errorAnswer(new ApiError('invalid_request', 'no such path', { status: 404 })));
      return;
    }
    const { client, maxPayloadChars } = this.#options;
    const call = operation.admit({ client, answer });
    if (call === null) return;
    try {
      call.authenticate(envelopeOf(frame, maxPayloadChars));
      this.#authenticate();
      call.run();
    } catch (error) {
      call.refuse(error);
    }
  }

  #authenticate(): void {
    if (this.#isAuthenticated) return;
    this.#isAuthenticated = true;
    clearTimeout(this.#authenticationTimer);
    this.#options.onAuthenticated();
  }

  #answer(nonce: string, { status, code, payload, sig, retryAfterSeconds, timing }: Answer): void {
    this.#unanswered -= 1;
    if (code === 'unauthorized' && sig === null) this.#failures += 1;
    if (this.#socket.readyState === this.#socket.OPEN) {
      const { totalMs, databaseMs } = timing ?? { totalMs: 0, databaseMs: 0 };
      const ok = code === '';
      this.#push(
        writeAnswerFrame({
          ...{ nonce, status, ok, code, payload, sig, totalMs, databaseMs },
          retryAfterSeconds: retryAfterSeconds ?? 0,
        }),
      );
    }
    if (this.#failures >= MAX_AUTHENTICATION_FAILURES) this.#close(STREAM_CLOSE.tooManyFailures);
    if (this.#unanswered === 0 && this.#isStopping) this.#idle.resolve();
  }

  #push(frame: Buffer): void {
    if (this.#answerBytes + frame.length > STREAM_MESSAGE_BYTES) this.#flush();
    this.#answers.push(frame);
    this.#answerBytes += frame.length;
    this.#nextTurn();
  }

  #nextTurn(): void {
    if (this.#isTurnDue) return;
    this.#isTurnDue = true;
    setImmediate(() => {
      this.#isTurnDue = false;
      this.#flush();
      this.#startWaiting();
    });
  }

  #flush(): void {
    const [answers, bytes] = [this.#answers, this.#answerBytes];
    this.#answers = [];
    this.#answerBytes = 0;
    if (bytes === 0 || this.#socket.readyState !== this.#socket.OPEN) return;
    const message = answers.length === 1 ? (answers[0] as Buffer) : Buffer.concat(answers, bytes);
    this.#unsent.add(bytes);
    this.#socket.send(message, { binary: true }, () => {
      this.#unsent.taken(bytes);
      this.#setReading();
    });
  }

  /** Stops reading at a bound, and reads again below it. */
  #setReading(): void {
    const hasUnsent = this.#socket.bufferedAmount > MAX_UNSENT_BYTES;
    if (hasUnsent) this.#unsentTimer ??= setTimeout(() => this.#close(STREAM_CLOSE.slowReader), UNSENT_MS);
    else this.#endUnsentTimer();
    const mustWait = hasUnsent || this.#isFull || this.#waiting.length > 0;
    if (mustWait === this.#socket.isPaused) return;
    if (mustWait) this.#socket.pause();
    else this.#socket.resume();
  }

  #endUnsentTimer(): void {
    if (this.#unsentTimer !== null) clearTimeout(this.#unsentTimer);
    this.#unsentTimer = null;
  }

  #hear(): void {
    this.#heardAtMs = performance.now();
  }

  /** A stream that is not read on purpose cannot bring a pong. */
  #ping(): void {
    if (this.#socket.isPaused) this.#hear();
    else if (performance.now() - this.#heardAtMs > STREAM_DEAD_MS) this.#socket.terminate();
    else this.#socket.ping();
  }

  #close(code: number, reason = ''): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#flush();
    this.#waiting = [];
    // The answer to the close is among what would be read.
    this.#socket.resume();
    this.#socket.close(code, reason);
    setTimeout(() => this.#socket.terminate(), CLOSE_MS).unref();
  }

  #end(): void {
    clearTimeout(this.#authenticationTimer);
    clearInterval(this.#pingTimer);
    this.#endUnsentTimer();
    this.#endMessage();
    this.#unsent.end();
    this.#waiting = [];
    this.#closed.resolve();
    this.#options.onClose();
  }
}

/** Throws `ApiError` as a POST with these fields does. */
function envelopeOf({ kid, ts, nonce, payload, sig }: CallFrame, maxPayloadChars: number): RequestEnvelope {
  if (payload === null) throw new ApiError('invalid_request', 'envelope: payload: expected UTF-8');
  return checkRequestEnvelope({ v: 1, kid, ts, nonce, payload, sig }, maxPayloadChars);
}
