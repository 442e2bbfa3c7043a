import type { ServerResponse } from 'node:http';
import { ApiError } from '#protocol/errors.ts';
import type { DatabaseCheck } from '../data/database-check.ts';
import type { Client } from '../security/client.ts';
import type { Metrics } from './metrics.ts';
import { replyError, send, sendJson } from './reply.ts';

/** A GET that needs no authentication. */
export type PublicRoute = (response: ServerResponse, client: Client) => void;

/** Clients set their clock by it; it says nothing of the database. */
export function serveTime(now: () => number): PublicRoute {
  return (response) => sendJson(response, 200, JSON.stringify({ status: 'ok', time: Math.floor(now() / 1000) }));
}

export function serveLiveness(): PublicRoute {
  return (response) => sendJson(response, 200, '{"status":"ok"}');
}

export function serveReadiness(check: DatabaseCheck): PublicRoute {
  return async (response) => {
    if (await check.isReachable()) sendJson(response, 200, '{"status":"ready","database":true}');
    else sendJson(response, 503, '{"status":"unavailable","database":false}');
  };
}

export type MetricsVisibility = 'loopback' | 'all' | 'none';

/** Elsewhere there is no such path (contract section 3). */
export function canSeeMetrics(visibility: MetricsVisibility, client: Client | null): boolean {
  return visibility === 'all' || (visibility === 'loopback' && client?.isLoopback === true);
}

/** Prometheus text. */
export function serveMetrics(metrics: Metrics, visibility: MetricsVisibility): PublicRoute {
  return (response, client) => {
    if (!canSeeMetrics(visibility, client)) replyError(response, noSuchPath());
    else send(response, 200, 'text/plain; version=0.0.4; charset=utf-8', metrics.text());
  };
}

export function noSuchPath(): ApiError {
  return new ApiError('invalid_request', 'there is no such path', { status: 404 });
}

export function wrongMethod(): ApiError {
  return new ApiError('invalid_request', 'the path takes another method', { status: 405 });
}
