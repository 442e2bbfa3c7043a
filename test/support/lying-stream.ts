import { type WebSocket, WebSocketServer } from 'ws';
import { type LyingServer, oracleSign, TIME_PAYLOAD } from './lying-server.ts';

/** A call as its frame has it. */
export interface StreamedCall {
  readonly path: string;
  readonly kid: string;
  readonly ts: number;
  readonly nonce: string;
  readonly sig: string;
  readonly payload: string;
}

/** Answers each call of a stream, truthfully or not. */
export type StreamBehaviour = (call: StreamedCall, socket: WebSocket, server: LyingServer) => void;

interface AnswerFields {
  readonly status?: number;
  readonly code?: string;
  readonly retryAfterSeconds?: number;
  /** Null: unsigned. */
  readonly sig?: string | null;
  readonly payload: string;
}

/** A frame of an answer, written from docs/api.md. */
export function answerFrame(nonce: string, fields: AnswerFields): Buffer {
  const { status = 200, code = '', retryAfterSeconds = 0, sig = null, payload } = fields;
  const body = Buffer.concat([
    Buffer.from([2, nonce.length]),
    Buffer.from(nonce),
    Buffer.from([status >> 8, status & 0xff, (status === 200 ? 1 : 0) | (sig === null ? 0 : 2), code.length]),
    Buffer.from(code),
    Buffer.from([retryAfterSeconds >> 8, retryAfterSeconds & 0xff]),
    Buffer.alloc(8),
    ...(sig === null ? [] : [Buffer.from(sig, 'base64url')]),
    Buffer.from(payload),
  ]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  return Buffer.concat([length, body]);
}

export function signedFrame(secret: string, nonce: string, payload: string, status = 200): Buffer {
  return answerFrame(nonce, { status, payload, sig: oracleSign(secret, ['v1resp', nonce, status, payload]) });
}

/** The truth. */
export function streams(payload: string, status = 200): StreamBehaviour {
  return ({ nonce }, socket, { secret }) => socket.send(signedFrame(secret, nonce, payload, status));
}

export function streamsUnsigned(status: number, code: string): StreamBehaviour {
  const payload = JSON.stringify({ error: { code, message: code } });
  return ({ nonce }, socket) => socket.send(answerFrame(nonce, { status, code, payload }));
}

/** Takes the call and never answers. */
export const streamsNothing: StreamBehaviour = () => undefined;

/** The streams of a lying server: calls seen, sockets open, and how they are answered. */
export class LyingStreams {
  readonly seen: StreamedCall[] = [];
  readonly sockets = new Set<WebSocket>();
  upgrades = 0;
  script: StreamBehaviour[] = [];
  otherwise: StreamBehaviour = streams('{"rows":[],"hasMore":false}');
  /** Answer to requests for the time, which are not among `seen`. */
  tellsTime: StreamBehaviour = (call, socket, server) =>
    streams(JSON.stringify({ status: 'ok', time: Math.floor(server.now / 1000) }))(call, socket, server);
  readonly #server = new WebSocketServer({ noServer: true });

  /** Takes upgrades of `server` over. */
  constructor(server: LyingServer) {
    server.onUpgrade = (request, socket, head) => {
      this.upgrades += 1;
      this.#server.handleUpgrade(request, socket, head, (opened) => {
        this.sockets.add(opened);
        opened.on('close', () => this.sockets.delete(opened));
        opened.on('message', (message: Buffer) => {
          for (const call of readCalls(message)) {
            if (call.payload === TIME_PAYLOAD) {
              this.tellsTime(call, opened, server);
              continue;
            }
            this.seen.push(call);
            (this.script.shift() ?? this.otherwise)(call, opened, server);
          }
        });
      });
    };
  }
}

function readCalls(message: Buffer): StreamedCall[] {
  const calls: StreamedCall[] = [];
  let at = 0;
  const take = (bytes: number) => {
    at += bytes;
    return message.subarray(at - bytes, at);
  };
  const text = () => take(take(1).readUInt8()).toString('latin1');
  while (at < message.length) {
    const end = take(4).readUInt32BE() + at;
    if (take(1)[0] !== 1) throw new Error('not a call');
    const [path, kid] = [text(), text()];
    const ts = Number(take(8).readBigUInt64BE());
    const nonce = text();
    const sig = take(32).toString('base64url');
    calls.push({ path, kid, ts, nonce, sig, payload: take(end - at).toString() });
  }
  return calls;
}
