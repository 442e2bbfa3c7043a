import type { Node } from './json-schema.ts';

/** Public routes: no key, no envelope, exempt from HTTPS and rate limits (contract section 3). */
export function probes(): Record<string, Node> {
  return {
    '/v1/health': { get: health() },
    '/healthz': { get: liveness() },
    '/readyz': { get: readiness() },
    '/metrics': { get: metrics() },
  };
}

function probe(operationId: string, summary: string, responses: Node): Node {
  return { operationId, summary, tags: ['probes'], security: [], responses };
}

function json(description: string, properties: Node): Node {
  const schema = { type: 'object', required: Object.keys(properties), properties };
  return { description, content: { 'application/json': { schema } } };
}

function health(): Node {
  const time = { type: 'integer', description: 'Unix seconds, for setting a clock' };
  return probe('probe', 'Tells the time; the database is not asked', {
    200: json('The service answers', { status: { const: 'ok' }, time }),
  });
}

function liveness(): Node {
  return probe('healthz', 'Whether the process lives', { 200: json('It does', { status: { const: 'ok' } }) });
}

function readiness(): Node {
  return probe('readyz', 'Whether the database answers; said within 2 seconds', {
    200: json('It does', { status: { const: 'ready' }, database: { const: true } }),
    503: json('It does not', { status: { const: 'unavailable' }, database: { const: false } }),
  });
}

function metrics(): Node {
  return probe('metrics', 'Figures for Prometheus, to loopback clients unless configured otherwise', {
    200: { description: 'Prometheus text', content: { 'text/plain': { schema: { type: 'string' } } } },
    404: { description: 'Not for this address' },
  });
}
