import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { FastifyInstance } from 'fastify';
import { MAX_ENVELOPE_CHARS } from '#protocol/limits.ts';
import { type AppOptions, createApp, type MetricsVisibility } from './api/app.ts';
import { Connections, maxConnections } from './api/connections.ts';
import { createHealthHandler } from './api/health.ts';
import { type Gauge, gaugesOf, Metrics } from './api/metrics.ts';
import { replyError } from './api/reply.ts';
import { readTls } from './api/tls.ts';
import type { BackupReport } from './backup-report.ts';
import type { Neighbours } from './cluster/neighbours.ts';
import { SharedNonces } from './cluster/shared-nonces.ts';
import type { CallWatch } from './data/call-watch.ts';
import { DatabaseCheck } from './data/database-check.ts';
import type { WriteBufferHealth } from './data/write-queue.ts';
import type { Engine } from './engine/engine.ts';
import { BodyReader } from './http/body.ts';
import { listenOnPort, listenOnSocket, urlOf } from './http/listen.ts';
import { RequestLog } from './http/request-log.ts';
import { UnsentAnswers } from './http/unsent-answers.ts';
import type { Log } from './log.ts';
import { Admission } from './operations/admission.ts';
import { Authenticator } from './operations/authenticate.ts';
import { type AnsweredCall, createOperations, type OperationHandlers } from './operations/run.ts';
import { ClientReader } from './security/client.ts';
import { type KeyRow, Keyring, type Revoked } from './security/keyring.ts';
import { LockOut } from './security/lock-out.ts';
import { NonceStore } from './security/nonce-store.ts';
import { RateLimit } from './security/rate-limit.ts';
import { readBootId } from './security/time-mark.ts';
import { isStreamRequest, Streams } from './stream/streams.ts';

/** Settings of the API; contract section 2 explains each. */
export interface ApiConfig {
  /** Path of sidecar.json, for errors. */
  readonly file: string;
  readonly api: {
    readonly host: string;
    readonly port: number;
    readonly socketPath: string | null;
    readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
    readonly requireHttps: 'always' | 'non-loopback' | 'never';
    readonly trustedProxies: readonly string[];
    readonly maxStreams: number;
    readonly maxSkewSeconds: number;
    readonly requestTimeoutMs: number;
    readonly metrics: MetricsVisibility;
  };
  readonly keys: readonly KeyRow[];
  readonly limits: {
    readonly maxBodyBytes: number;
    readonly maxPayloadChars: number;
    readonly perKeyPerSecond: number;
    readonly perAddressPerSecond: number;
    readonly authFailuresPerMinute: number;
    readonly lockoutSeconds: number;
  };
  readonly dataFolder: string;
}

/** State of write-behind in health and metrics. */
export interface WriteBufferReport {
  health(): WriteBufferHealth | undefined;
  readonly gauges: readonly Gauge[];
}

export interface ApiOptions {
  readonly config: ApiConfig;
  readonly engine: Pick<Engine, 'provider' | 'capabilities' | 'ping' | 'stats'>;
  readonly handlers: Omit<OperationHandlers, 'health'>;
  /** Other sidecars of the database; left out if this one is not announced. */
  readonly neighbours?: Neighbours;
  /** Left out if nothing looks for revoked keys. */
  readonly revocations?: Revoked;
  /** Left out where write-behind is off. */
  readonly writeBuffer?: WriteBufferReport | null;
  /** Left out if there is none. */
  readonly backup?: BackupReport;
  /** Figures of the panel; none without one. */
  readonly panelGauges?: readonly Gauge[];
  readonly log: Log;
  /** Hears of every call of a known key; left out where nobody listens. */
  readonly watch?: CallWatch;
  /** Epoch milliseconds; a test sets it. */
  readonly now?: () => number;
  /** Milliseconds that never go back, for limits and lock-outs; the test's clock where it sets one. */
  readonly monotonicNow?: () => number;
  /** Which start of the machine this is. */
  readonly bootId?: string;
  /** Most nonces that are remembered at once. */
  readonly nonceCapacity?: number;
}

export interface RunningApi {
  /** `http://…`, `https://…` or `unix:/path`, as the connector's `url` takes it. */
  readonly address: string;
  /** HMACs computed so far, for the tests of equal cost. */
  hmacs(): number;
  /** Ends listening, lets what runs finish for at most `STOP_MS`, and keeps what must be remembered. */
  stop(): Promise<void>;
}

const STOP_MS = 8000;
const STRANGERS_STOP_MS = 1000;
const IDLE_CHECK_MS = 25;

/** The signed API over an engine: everything from the configuration to the listening socket. */
export async function startApi(options: ApiOptions): Promise<RunningApi> {
  const { config } = options;
  const tls = readTls(config.api.tls, config.file);
  const now = options.now ?? Date.now;
  const monotonicNow = options.monotonicNow ?? options.now ?? (() => performance.now());
  const keyring = new Keyring(config.keys, options.revocations);
  const nonces = openNonceStore(options, now);
  const { app, streams, metrics, connections } = buildApp(options, { now, monotonicNow, keyring, nonces, tls });
  const stop = async () => {
    await Promise.all([streams.stop(), closeApp(app, connections)]);
    metrics.close();
    await nonces.close();
  };
  try {
    const address = await listen(app, config);
    return { address, hmacs: () => keyring.hmacs, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface BuiltApp {
  readonly app: FastifyInstance;
  readonly streams: Streams;
  readonly metrics: Metrics;
  readonly connections: Connections;
}

interface Parts {
  readonly now: () => number;
  readonly monotonicNow: () => number;
  readonly keyring: Keyring;
  readonly nonces: NonceStore;
  readonly tls: AppOptions['tls'];
}

function buildApp(options: ApiOptions, parts: Parts): BuiltApp {
  const { neighbours } = options;
  const { api, limits } = options.config;
  const addressLimit = new RateLimit(limits.perAddressPerSecond);
  const keyLimit = new RateLimit(limits.perKeyPerSecond);
  const lockOut = new LockOut(limits.authFailuresPerMinute, limits.lockoutSeconds);
  const authenticator = new Authenticator({
    ...{ ...api, ...limits, ...parts, lockOut, addressLimit },
    ...(neighbours && { instance: () => neighbours.instance }),
  });
  const metrics = new Metrics([
    ...gaugesOf({
      ...parts,
      ...{ engine: options.engine, authenticator, addressLimit, keyLimit },
      streams: () => streams.size,
    }),
    ...(options.writeBuffer?.gauges ?? []),
    ...(options.backup?.gauges ?? []),
    ...(options.panelGauges ?? []),
    ...(neighbours === undefined ? [] : [neighbourGauge(neighbours)]),
  ]);
  const connections = new Connections(maxConnections(), options.log, parts.monotonicNow);
  const database = new DatabaseCheck(options.engine);
  const operations = createOperations({
    ...parts,
    ...{ authenticator, keyLimit, admission: new Admission(), log: options.log },
    requestTimeoutMs: api.requestTimeoutMs,
    handlers: {
      ...options.handlers,
      health: createHealthHandler({
        ...{ engine: options.engine, database, neighbours, now: parts.now },
        writeBuffer: () => options.writeBuffer?.health(),
        backup: () => options.backup?.health(),
      }),
    },
    ...(neighbours && { neighbours, sharedNonces: new SharedNonces({ ...api, ...parts, neighbours }) }),
    onAnswered: reporterOf(metrics, new RequestLog(options.log, parts.monotonicNow), options.watch),
  });
  const transport = {
    operations,
    clients: new ClientReader(api.trustedProxies, api.socketPath !== null),
    bodies: new BodyReader(maxBodyBytesOf(limits)),
    unsent: new UnsentAnswers(),
    maxPayloadChars: limits.maxPayloadChars,
  };
  const app = createApp({
    ...{ ...parts, ...transport, connections, metrics, database, log: options.log },
    requestTimeoutMs: api.requestTimeoutMs,
    metricsVisibility: api.metrics,
    isUpgrade: isStreamRequest,
    ...(neighbours && { instance: () => neighbours.instance }),
  });
  const streams = new Streams({
    ...{ ...transport, authenticator },
    maxStreams: api.maxStreams,
    maxBodyBytes: limits.maxBodyBytes,
    know: (socket) => connections.know(socket),
    refuse: replyError,
  });
  app.server.on('upgrade', (request, socket, head) => streams.upgrade(request, socket, head));
  return { app, streams, metrics, connections };
}

function neighbourGauge(neighbours: Neighbours): Gauge {
  const help = 'Other sidecars of the database that announced themselves in the last 35 seconds.';
  const read = () => neighbours.others().filter(({ isAlive }) => isAlive).length;
  return { name: 'sidecar_neighbours', help, type: 'gauge', read };
}

/** Tells figures, log and listeners about each answered request. */
function reporterOf(metrics: Metrics, requestLog: RequestLog, watch: CallWatch | undefined) {
  return ({ operation, kid, client, payload, status, code, ms, databaseMs }: AnsweredCall): void => {
    const outcome = code === '' ? 'ok' : code;
    const { address } = client;
    metrics.count(operation, outcome, ms);
    if (kid !== '' && watch?.hasListeners === true) {
      watch.tell({ operation, kid, address, payload, code: outcome, ms, databaseMs });
    }
    requestLog.write({ op: operation, kid, address, status, code, ms: Math.round(ms * 10) / 10 });
  };
}

/** A body holds one payload: at most six bytes a character (`\u00e9`), and the rest of the envelope. */
function maxBodyBytesOf({ maxBodyBytes, maxPayloadChars }: ApiConfig['limits']): number {
  return Math.min(maxBodyBytes, 6 * maxPayloadChars + MAX_ENVELOPE_CHARS);
}

function openNonceStore(options: ApiOptions, now: () => number): NonceStore {
  const { config, log, bootId, nonceCapacity } = options;
  return new NonceStore({
    folder: join(config.dataFolder, 'nonces'),
    skewSeconds: config.api.maxSkewSeconds,
    nowSeconds: () => Math.floor(now() / 1000),
    bootId: bootId ?? readBootId(Date.now()),
    warn: (line) => log.warn(line),
    ...(nonceCapacity === undefined ? {} : { capacity: nonceCapacity }),
  });
}

/** Returns the address as the connector's `url` takes it. */
async function listen(app: FastifyInstance, { api, file }: ApiConfig): Promise<string> {
  const { host, port, socketPath, tls } = api;
  if (socketPath !== null) {
    await listenOnSocket(app, socketPath);
    return `unix:${socketPath}`;
  }
  const place = { field: 'api.port', host, port, file, also: ' and url in database.json' };
  return urlOf(tls === null ? 'http' : 'https', host, await listenOnPort(app, place));
}

/** Connections that become idle are closed at once, strangers after a second, and the others in the end. */
async function closeApp(app: FastifyInstance, connections: Connections): Promise<void> {
  const idle = setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS);
  const strangers = setTimeout(() => connections.closeStrangers(), STRANGERS_STOP_MS);
  const cutOff = setTimeout(() => app.server.closeAllConnections(), STOP_MS);
  try {
    await app.close();
  } finally {
    clearInterval(idle);
    clearTimeout(strangers);
    clearTimeout(cutOff);
  }
}
