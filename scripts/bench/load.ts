import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { createHistogram } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { importSecret, signRequest } from '#protocol/signing.ts';
import { writeCallFrame } from '#protocol/stream-frames.ts';
import { createPayloads, type LoadKind } from './payloads.ts';
import { StreamCaller } from './stream-caller.ts';
import { freeTurns, pacedTurns, type Turn } from './turns.ts';

// The load generator, a process of its own: `node scripts/bench/load.ts '{"port":…,…}'` prints one JSON line with what it saw.
// It writes HTTP by hand over keep-alive connections, one request at a time on each, so that it costs less than what it
// measures. Each request is signed when it is sent; the bare server gets the very same signed requests.

export interface LoadOptions {
  readonly port: number;
  readonly kind: LoadKind;
  readonly kid: string;
  readonly secret: string;
  readonly connections: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Over streams the calls are spread over `STREAMS` of them. Default: POST. */
  readonly transport?: 'post' | 'stream';
  /** Requests fall due at this rate whatever the server does, and their time counts from then. Default: as fast as it can. */
  readonly ratePerSecond?: number;
  /** Ends after so many, counted from the first; `seconds` is the longest it may take. */
  readonly maxRequests?: number;
}

export interface LoadResult {
  readonly perSecond: number;
  readonly requests: number;
  /** With those of the warm-up. */
  readonly answered: number;
  /** By HTTP status. */
  readonly statuses: Record<string, number>;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Bytes of the last answer, so that the bare server answers with the same size. */
  readonly answerBytes: number;
}

const HEADER_END = Buffer.from('\r\n\r\n');

/** A connection: sends a request, waits for the whole answer, and so on until `stop`. */
class Caller {
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
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
    if (length === undefined) throw new Error(`an answer without content-length: ${head}`);
    if (this.#received.length < headEnd + HEADER_END.length + Number(length)) return;
    this.#received = Buffer.alloc(0);
    this.#onAnswer(Number(head.slice(9, 12)), performance.now() - this.#sentAt, Number(length));
    if (this.#isStopping) this.#socket.end();
    else this.#send();
  }
}

/** Streams of one generator; each has its share of the calls under way. */
const STREAMS = 4;

function frameWriter(options: LoadOptions): () => { nonce: string; frame: Buffer } {
  const { path, sign } = signer(options);
  return () => {
    const envelope = sign();
    return { nonce: envelope.nonce, frame: writeCallFrame({ path, ...envelope }) };
  };
}

/** The next signed envelope. */
function signer({ kind, kid, secret }: LoadOptions) {
  const { path, next } = createPayloads(kind);
  const key = importSecret(secret);
  const nonceStart = randomBytes(9).toString('base64url');
  let count = 0;
  const sign = () => {
    const payload = next();
    const ts = Math.floor(Date.now() / 1000);
    count += 1;
    const nonce = `${nonceStart}${count}`;
    return { kid, ts, nonce, payload, sig: signRequest(key, path, kid, ts, nonce, payload) };
  };
  return { path, sign };
}

function requestWriter(options: LoadOptions): () => string {
  const { path, sign } = signer(options);
  return () => {
    const { kid, ts, nonce, payload, sig } = sign();
    const body = `{"v":1,"kid":"${kid}","ts":${ts},"nonce":"${nonce}","payload":${JSON.stringify(payload)},"sig":"${sig}"}`;
    const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${options.port}\r\ncontent-type: application/json\r\n`;
    return `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  };
}

function callersOf(
  options: LoadOptions,
  turn: Turn,
  onAnswer: (status: number, ms: number, bytes: number) => void,
): (Caller | StreamCaller)[] {
  const { port, connections, transport } = options;
  if (transport === 'stream') {
    const next = frameWriter(options);
    const share = connections / STREAMS;
    return Array.from({ length: STREAMS }, () => new StreamCaller(port, share, next, turn, onAnswer));
  }
  const next = requestWriter(options);
  return Array.from({ length: connections }, () => new Caller(port, next, turn, onAnswer));
}

async function generate(options: LoadOptions): Promise<LoadResult> {
  const latencyUs = createHistogram();
  const statuses: Record<string, number> = {};
  let [requests, answered, answerBytes, isCounting] = [0, 0, 0, false];
  const onAnswer = (status: number, ms: number, bytes: number): void => {
    answerBytes = bytes;
    answered += 1;
    if (!isCounting) return;
    requests += 1;
    statuses[status] = (statuses[status] ?? 0) + 1;
    latencyUs.record(Math.max(1, Math.round(ms * 1000)));
  };
  const { ratePerSecond, maxRequests } = options;
  const turn = ratePerSecond === undefined ? freeTurns(maxRequests) : pacedTurns(ratePerSecond);
  const callers = callersOf(options, turn, onAnswer);
  const allEnded = Promise.all(callers.map((caller) => caller.ended.promise));
  await wait(options.warmUpSeconds * 1000);
  isCounting = true;
  const startedAt = performance.now();
  await Promise.race([wait(options.seconds * 1000), allEnded]);
  isCounting = false;
  const seconds = (performance.now() - startedAt) / 1000;
  for (const caller of callers) caller.stop();
  await allEnded;
  const ms = (percentile: number) => latencyUs.percentile(percentile) / 1000;
  return {
    perSecond: requests / seconds,
    requests,
    answered,
    statuses,
    p50Ms: ms(50),
    p99Ms: ms(99),
    maxMs: latencyUs.max / 1000,
    answerBytes,
  };
}

if (import.meta.main) {
  console.log(JSON.stringify(await generate(JSON.parse(process.argv[2] as string) as LoadOptions)));
  // With `maxRequests` the wait for the longest time may be still under way.
  process.exit(0);
}
