import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { ApiError } from '#protocol/errors.ts';
import { STREAM_PATH, STREAM_PROTOCOL } from '#protocol/stream-frames.ts';
import type { BodyReader } from '../http/body.ts';
import type { UnsentAnswers } from '../http/unsent-answers.ts';
import { RateLimited } from '../operations/answer.ts';
import type { Authenticator } from '../operations/authenticate.ts';
import type { Operations } from '../operations/run.ts';
import type { Client, ClientReader } from '../security/client.ts';
import { Stream } from './stream.ts';

const MAX_STREAMS_OF_ADDRESS = 16;
const RETRY_AFTER_MS = 60_000;
/** Maximum time for running calls at a stop, as for POST. */
const STOP_MS = 8000;

export interface StreamsOptions {
  readonly operations: Operations;
  readonly bodies: BodyReader;
  readonly unsent: UnsentAnswers;
  readonly maxStreams: number;
  readonly maxBodyBytes: number;
  readonly maxPayloadChars: number;
  readonly clients: ClientReader;
  readonly authenticator: Authenticator;
  /** The connection carried a call with a right signature. */
  know(socket: Socket): void;
  refuse(response: ServerResponse, error: ApiError): void;
}

/** All streams of the API: upgrades within bounds, and the end of all. */
export class Streams {
  readonly #options: StreamsOptions;
  readonly #server: WebSocketServer;
  readonly #open = new Set<Stream>();
  readonly #countByAddress = new Map<string, number>();
  #isStopping = false;

  constructor(options: StreamsOptions) {
    this.#options = options;
    this.#server = new WebSocketServer({
      noServer: true,
      perMessageDeflate: false,
      maxPayload: options.maxBodyBytes,
      clientTracking: false,
      handleProtocols: () => STREAM_PROTOCOL,
    });
  }

  get size(): number {
    return this.#open.size;
  }

  /** Takes the socket of a request for `STREAM_PATH`. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // Until the library takes the socket, nothing else listens for its errors.
    const onError = () => socket.destroy();
    socket.on('error', onError);
    try {
      const client = this.#admit(request);
      socket.off('error', onError);
      this.#server.handleUpgrade(request, socket, head, (webSocket) => this.#add(webSocket, client, request.socket));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#refuse(request, socket as Socket, error);
    }
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    const cutOff = setTimeout(() => {
      for (const stream of this.#open) stream.terminate();
    }, STOP_MS);
    await Promise.all([...this.#open].map((stream) => stream.stop()));
    clearTimeout(cutOff);
  }

  #admit(request: IncomingMessage): Client {
    const { clients, authenticator, maxStreams } = this.#options;
    const client = clients.read(request);
    if (maxStreams === 0) throw new ApiError('invalid_request', 'there is no such path', { status: 404 });
    if (client === null) throw new ApiError('invalid_request', 'the address of the client cannot be read');
    if (request.headers.origin !== undefined) throw new ApiError('forbidden', 'pages may not open a stream');
    authenticator.admit(client);
    if (this.#isStopping) throw new ApiError('internal_error', 'the service stops', { status: 503 });
    if (!protocolsOf(request).includes(STREAM_PROTOCOL)) {
      throw new ApiError('invalid_request', `Sec-WebSocket-Protocol: expected ${STREAM_PROTOCOL}`);
    }
    if (this.#open.size >= maxStreams) throw new RateLimited('too many streams', RETRY_AFTER_MS);
    if (this.#countOf(client) >= MAX_STREAMS_OF_ADDRESS) {
      throw new RateLimited('too many streams from this address', RETRY_AFTER_MS);
    }
    return client;
  }

  #add(webSocket: WebSocket, client: Client, socket: Socket): void {
    const { operations, bodies, unsent, maxPayloadChars, know } = this.#options;
    this.#countByAddress.set(client.address, this.#countOf(client) + 1);
    const stream = new Stream({
      ...{ webSocket, socket, client, operations, bodies, unsent, maxPayloadChars },
      onAuthenticated: () => know(socket),
      onClose: () => this.#remove(stream, client),
    });
    this.#open.add(stream);
    if (this.#isStopping) void stream.stop();
  }

  #remove(stream: Stream, client: Client): void {
    this.#open.delete(stream);
    const left = this.#countOf(client) - 1;
    if (left === 0) this.#countByAddress.delete(client.address);
    else this.#countByAddress.set(client.address, left);
  }

  #countOf({ address }: Client): number {
    return this.#countByAddress.get(address) ?? 0;
  }

  #refuse(request: IncomingMessage, socket: Socket, error: ApiError): void {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.on('finish', () => socket.end());
    this.#options.refuse(response, error);
  }
}

/** Whether Node.js is to hand over the socket; other requests with an Upgrade header stay HTTP. */
export function isStreamRequest({ method, url, headers }: IncomingMessage): boolean {
  return method === 'GET' && url === STREAM_PATH && headers.upgrade?.toLowerCase() === 'websocket';
}

function protocolsOf({ headers }: IncomingMessage): string[] {
  return (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
}
