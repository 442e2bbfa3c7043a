import { connect as connectSocket } from 'node:net';
import { WebSocket } from 'ws';
import type { Configuration } from '../config/configuration.ts';
import {
  FrameError,
  type ReceivedAnswer,
  readAnswerFrames,
  STREAM_CLOSE,
  STREAM_DEAD_MS,
  STREAM_MAX_IN_FLIGHT,
  STREAM_MESSAGE_BYTES,
  STREAM_PATH,
  STREAM_PING_MS,
  STREAM_PROTOCOL,
  writeCallFrame,
} from '../protocol/stream-frames.ts';
import type { Attempt, AttemptCarrier } from './attempt.ts';
import { Deadlines } from './deadlines.ts';
import { ABANDONED, type ExchangeEnd } from './exchange.ts';
import { OrderedTable } from './ordered-table.ts';
import type { Cancel, Timers } from './timers.ts';

/** Bytes of an answer beside its payload, at most. */
const MAX_HEAD_BYTES = 1024;

/**
 * End of a stream. `refused`: the other side does not offer streams, or sent more than `maxAnswerBytes`, so the next attempt waits
 * long. `broken`: it stood, the connection failed, or the API was away; the next attempt follows soon. `retired`: calls go elsewhere.
 */
export type StreamEnd = 'refused' | 'broken' | 'retired';

export interface ClientStreamOptions {
  readonly configuration: Configuration;
  readonly timers: Timers;
  onOpen(): void;
  /** Once, after every call under way has ended. */
  onEnd(end: StreamEnd): void;
}

/** A WebSocket to the API: sends calls, matches answers by nonce. Calls under way when it ends have no answer. */
export class ClientStream implements AttemptCarrier {
  received = 0;
  readonly #options: ClientStreamOptions;
  readonly #socket: WebSocket;
  readonly #deadlines: Deadlines;
  /** By nonce. */
  readonly #calls = new OrderedTable<string, Attempt>();
  /** Frames of this tick. */
  #frames: Buffer[] = [];
  #heardAtMs: number;
  #isRetired = false;
  #hasEnded = false;
  readonly #stopPings: Cancel;

  constructor(options: ClientStreamOptions) {
    this.#options = options;
    const { timers, configuration } = options;
    this.#deadlines = new Deadlines(timers);
    this.#heardAtMs = timers.elapsed();
    this.#socket = connect(configuration);
    this.#socket.on('open', () => options.onOpen());
    this.#socket.on('message', (data: Buffer, isBinary: boolean) => this.#receive(data, isBinary));
    this.#socket.on('pong', () => this.#hear());
    this.#socket.on('ping', () => this.#hear());
    this.#socket.on('unexpected-response', (_request, { statusCode = 0 }) =>
      this.#end(isGatewayError(statusCode) ? 'broken' : 'refused', `the API refused the stream (${statusCode})`),
    );
    this.#socket.on('error', (error: NodeJS.ErrnoException) => this.#fail(error));
    this.#socket.on('close', (code: number) => this.#end('broken', `the stream was closed (${code})`));
    this.#stopPings = timers.every(STREAM_PING_MS, () => this.#ping());
  }

  /** It stands, and has room for one more call. */
  get hasRoom(): boolean {
    return this.isOpen && !this.#isRetired && this.#calls.size < STREAM_MAX_IN_FLIGHT;
  }

  get isOpen(): boolean {
    return !this.#hasEnded && this.#socket.readyState === WebSocket.OPEN;
  }

  /** The time counts from now. */
  send(attempt: Attempt): void {
    attempt.begunAt = this.#options.timers.elapsed();
    attempt.dueAt = attempt.begunAt + attempt.timeoutMs;
    attempt.stalledBeforeMs = this.#deadlines.stalledMs;
    attempt.carriedBy = this;
    this.#calls.add(attempt.nonce, attempt);
    this.#deadlines.watch(attempt);
    this.#push(writeCallFrame(attempt));
  }

  expired(attempt: Attempt, hasStalled: boolean): void {
    // Nothing came for the whole time of a call: the other side, or something between, is gone.
    const isGone = !hasStalled && this.#heardAtMs < attempt.begunAt;
    this.#endCall(attempt, { kind: 'noAnswer', reason: `no answer within ${attempt.timeoutMs} ms`, hasStalled });
    if (isGone) this.destroy();
  }

  /** The connection stays: calls that are not repeated may still get their answers. */
  abandon(attempt: Attempt): void {
    this.#endCall(attempt, ABANDONED);
  }

  #endCall(attempt: Attempt, end: ExchangeEnd): void {
    this.#calls.take(attempt.nonce);
    this.#deadlines.forget(attempt);
    attempt.carriedBy = null;
    attempt.exchanged(end, this.#deadlines.stalledSince(attempt.begunAt, attempt.stalledBeforeMs));
    this.#endIfIdle();
  }

  /** Takes no more calls, and ends once those under way have ended. */
  retire(): void {
    this.#isRetired = true;
    this.#endIfIdle();
  }

  #endIfIdle(): void {
    if (this.#isRetired && this.#calls.size === 0) this.#end('retired', 'calls go elsewhere');
  }

  /** Ends at once, calls under way included. */
  destroy(): void {
    this.#end('broken', 'the stream was ended');
  }

  #push(frame: Buffer): void {
    this.#frames.push(frame);
    // The calls of one tick go out in one write.
    if (this.#frames.length === 1) queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    let [message, bytes]: [Buffer[], number] = [[], 0];
    for (const frame of this.#frames) {
      if (bytes > 0 && bytes + frame.length > STREAM_MESSAGE_BYTES) {
        this.#write(message, bytes);
        [message, bytes] = [[], 0];
      }
      message.push(frame);
      bytes += frame.length;
    }
    this.#frames = [];
    if (bytes > 0) this.#write(message, bytes);
  }

  #write(frames: readonly Buffer[], bytes: number): void {
    if (!this.isOpen) return;
    this.#socket.send(frames.length === 1 ? (frames[0] as Buffer) : Buffer.concat(frames, bytes), { binary: true });
  }

  #receive(data: Buffer, isBinary: boolean): void {
    this.#hear();
    this.received += data.length;
    try {
      if (!isBinary) throw new FrameError('expected a binary message');
      // An answer that nobody waits for any more came after its time.
      for (const answer of readAnswerFrames(data)) {
        const attempt = this.#calls.get(answer.nonce);
        if (attempt !== undefined) this.#endCall(attempt, this.#endOf(answer));
      }
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#socket.close(STREAM_CLOSE.brokenFrame);
      this.#end('broken', `the stream brought something else than answers: ${error.message}`);
    }
  }

  /** Beside others in one message, a long answer is within the bound of messages. */
  #endOf(answer: ReceivedAnswer): ExchangeEnd {
    const { maxAnswerBytes } = this.#options.configuration.config;
    return answer.body.length > maxAnswerBytes ? { kind: 'tooLong' } : { kind: 'frame', answer };
  }

  #hear(): void {
    this.#heardAtMs = this.#options.timers.elapsed();
  }

  #ping(): void {
    if (this.#options.timers.elapsed() - this.#heardAtMs > STREAM_DEAD_MS) this.destroy();
    else if (this.isOpen) this.#socket.ping();
  }

  #fail(error: NodeJS.ErrnoException): void {
    const isTooLong = error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
    this.#end(isTooLong ? 'refused' : 'broken', error.message || error.code || 'the stream failed');
  }

  #end(end: StreamEnd, reason: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#stopPings();
    this.#socket.terminate();
    for (const [, attempt] of [...this.#calls.entries()]) {
      this.#endCall(attempt, { kind: 'noAnswer', reason, hasStalled: false });
    }
    this.#deadlines.close();
    this.#options.onEnd(end);
  }
}

function connect({ config, ca }: Configuration): WebSocket {
  const { origin, socketPath } = config.target;
  const base = socketPath === null ? origin.replace(/^http/, 'ws') : 'ws://localhost';
  return new WebSocket(`${base}${STREAM_PATH}`, STREAM_PROTOCOL, {
    // The library's own form, `ws+unix:`, cannot hold every path.
    ...(socketPath === null ? {} : { createConnection: () => connectSocket(socketPath) }),
    perMessageDeflate: false,
    maxPayload: Math.max(config.maxAnswerBytes, STREAM_MESSAGE_BYTES) + MAX_HEAD_BYTES,
    handshakeTimeout: config.timeoutMs,
    ...(ca === null ? {} : { ca }),
  });
}

/** Status of an API that is stopping, or of a proxy whose API is away: says nothing about streams. */
export function isGatewayError(status: number): boolean {
  return status >= 502 && status <= 504;
}
