import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { FastifyServerOptions } from 'fastify';
import { ApiError } from '#protocol/errors.ts';
import { LONG_OPERATION_TIMEOUT_MS } from '#protocol/limits.ts';
import { fileFault } from '../config/file-fault.ts';
import { noSuchPath } from './probes.ts';
import { rawErrorAnswer, replyError } from './reply.ts';

export interface ServerSettings {
  readonly requestTimeoutMs: number;
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
}

const CHECK_INTERVAL_MS = 500;
/** A socket on which nothing moves for this long is closed, also one whose client does not read its answer. */
const IDLE_SOCKET_MS = LONG_OPERATION_TIMEOUT_MS + 10_000;

/**
 * Time limits, TLS, and answers to what is not HTTP. Head and body must have arrived by `requestTimeoutMs`, else the
 * connection is closed at the next look, within half a second.
 */
export function serverOptions({ requestTimeoutMs, tls }: ServerSettings): FastifyServerOptions {
  const http = {
    requestTimeout: requestTimeoutMs,
    headersTimeout: requestTimeoutMs,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    /** A missing Host header is not what decides here, and Node.js would answer it in its own words. */
    requireHostHeader: false,
    noDelay: true,
  };
  const https = tls === null ? null : { ...http, handshakeTimeout: requestTimeoutMs, ...readTls(tls) };
  const options = {
    logger: false,
    requestTimeout: requestTimeoutMs,
    connectionTimeout: IDLE_SOCKET_MS,
    ...(https === null ? { http } : { https }),
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (_error, _request, reply) => {
      reply.hijack();
      replyError(reply.raw, noSuchPath());
    },
  } satisfies FastifyServerOptions | (FastifyServerOptions & { https: unknown });
  return options as FastifyServerOptions;
}

/** Checked here, where the field can still be named. */
function readTls({ certFile, keyFile }: { certFile: string; keyFile: string }): { cert: Buffer; key: Buffer } {
  const files = { cert: readPem('certFile', certFile), key: readPem('keyFile', keyFile) };
  try {
    createSecureContext(files);
  } catch (error) {
    throw new Error(`api.tls: expected a certificate and its key, got ${(error as NodeJS.ErrnoException).code}`);
  }
  return files;
}

function readPem(field: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`api.tls.${field}: ${fileFault(file, error)}`);
  }
}

/** Malformed HTTP gets an envelope; a request that came too slowly, or a connection that is gone, nothing. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  const isSilent = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' || error.code === 'ECONNRESET' || !socket.writable;
  if (isSilent || isAnswering(socket)) {
    socket.destroy();
    return;
  }
  socket.write(rawErrorAnswer(new ApiError('invalid_request', 'the request is not HTTP that can be read')));
  socket.destroySoon();
}

/** An answer is under way on this connection; Node.js keeps it there and asks the same in its own handler. */
function isAnswering(socket: Socket): boolean {
  const { _httpMessage: message } = socket as Socket & { _httpMessage?: { headersSent: boolean } | null };
  return message?.headersSent === true;
}
