import type { ServerResponse } from 'node:http';
import type { WebSocket } from 'ws';
import type { LyingServer } from './lying-server.ts';
import { answerFrame, LyingStreams, type StreamBehaviour, type StreamedCall } from './lying-stream.ts';

/** Answers the calls of streams by the behaviours that a test wrote for POST, so that one suite judges both ways. */
export function answerOverStream(server: LyingServer): void {
  const streams = new LyingStreams(server);
  const answer: StreamBehaviour = (call, socket) => {
    const { path, kid, ts, nonce, sig, payload } = call;
    const envelope = { v: 1, kid, ts, nonce, payload, sig };
    const seen = { method: 'POST', path, headers: {}, body: JSON.stringify(envelope), envelope, nonce };
    server.answer(seen, new StreamedResponse(call, socket) as unknown as ServerResponse);
  };
  streams.otherwise = answer;
  streams.tellsTime = answer;
}

/** The part of a response of HTTP that behaviours use; ends as a frame. */
class StreamedResponse {
  readonly #call: StreamedCall;
  readonly #socket: WebSocket;
  #status = 200;
  #headers: Record<string, string> = {};
  #body = '';

  constructor(call: StreamedCall, socket: WebSocket) {
    this.#call = call;
    this.#socket = socket;
  }

  readonly socket = { resetAndDestroy: () => this.destroy() };

  get destroyed(): boolean {
    return this.#socket.readyState !== this.#socket.OPEN;
  }

  writeHead(status: number, headers: Record<string, string> = {}): this {
    [this.#status, this.#headers] = [status, headers];
    return this;
  }

  write(text: string, onWritten?: () => void): boolean {
    this.#body += text;
    if (onWritten !== undefined) setImmediate(onWritten);
    return true;
  }

  end(text: string | Buffer = ''): void {
    this.#body += text.toString();
    if (!this.destroyed) this.#socket.send(this.#frame());
  }

  destroy(): void {
    this.#socket.terminate();
  }

  /** A body that is no envelope is no frame either. */
  #frame(): Buffer {
    const envelope = envelopeOf(this.#body);
    if (envelope === null) return Buffer.from(this.#body);
    const { code = '', sig = null, payload } = envelope;
    const retryAfterSeconds = Number(this.#headers['retry-after'] ?? 0);
    return answerFrame(this.#call.nonce, { status: this.#status, code, retryAfterSeconds, sig, payload });
  }
}

function envelopeOf(body: string): { code?: string; sig?: string; payload: string } | null {
  try {
    const envelope = JSON.parse(body);
    return envelope.v === 1 && typeof envelope.payload === 'string' ? envelope : null;
  } catch {
    return null;
  }
}
