import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { API_ERRORS, ApiError, CONNECTOR_ERRORS, isApiErrorCode } from '#protocol/errors.ts';
import { OPERATION_NAMES, OPERATIONS } from '#protocol/operations.ts';
import { OPENAPI_FILE, openapiText } from '#scripts/openapi.ts';

interface Document {
  openapi: string;
  info: { version: string };
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, { description: string }> }>>;
  components: { schemas: Record<string, { enum?: string[] }> };
  'x-error-codes': Record<string, { status: number; also?: number[] }>;
  'x-connector-codes': Record<string, string>;
}

const text = readFileSync(OPENAPI_FILE, 'utf8');
const document: Document = JSON.parse(text);

test('the file is what the tables and schemas give; `node scripts/openapi.ts` writes it', () => {
  expect(text === openapiText()).toBe(true);
  expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Signed database API' } });
});

/** The specification's "Errors", copied, with the statuses that the contract adds in sections 3 and 5. */
const SPECIFIED: Record<number, string> = {
  400: `invalid_request invalid_identifier invalid_schema invalid_filter invalid_sort unknown_column missing_value
    invalid_value value_too_long filter_required`,
  401: 'unauthorized',
  403: 'forbidden https_required',
  404: 'unknown_table namespace_unknown invalid_request',
  405: 'invalid_request',
  409: `constraint_violation destructive_denied data_does_not_fit unsupported_change sync_in_progress conflict_retry
    expectation_failed unsupported_operation`,
  413: 'payload_too_large too_many_rows',
  422: 'idempotency_conflict',
  429: 'rate_limited',
  500: 'database_error internal_error',
  503: 'write_buffer_full write_buffer_unavailable write_buffer_halted internal_error',
  504: 'database_timeout timeout',
};

const SPECIFIED_OF_CONNECTOR = `not_configured unknown_operation invalid_request invalid_identifier namespace_not_allowed
  payload_too_large busy unavailable network unauthorized rate_limited bad_signature bad_response internal
  bundle_unavailable`;

const words = (list: string) => list.split(/\s+/).toSorted();

describe('codes', () => {
  function statusesOf(table: Document['x-error-codes']): string[] {
    return Object.entries(table)
      .flatMap(([code, { status, also = [] }]) => [status, ...also].map((each) => `${each} ${code}`))
      .toSorted();
  }
  const specified = Object.entries(SPECIFIED)
    .flatMap(([status, codes]) => words(codes).map((code) => `${status} ${code}`))
    .toSorted();

  test('of the table, the documentation and the specification are the same, with their statuses', () => {
    expect(statusesOf(JSON.parse(JSON.stringify(API_ERRORS)))).toEqual(specified);
    expect(statusesOf(document['x-error-codes'])).toEqual(specified);
  });

  test("of the connector are the specification's", () => {
    expect(Object.keys(CONNECTOR_ERRORS).toSorted()).toEqual(words(SPECIFIED_OF_CONNECTOR));
    expect(document['x-connector-codes']).toEqual(CONNECTOR_ERRORS);
  });

  test('are all documented at some operation, each at its own status', () => {
    const documented = new Set<string>();
    for (const { post } of Object.values(document.paths)) {
      for (const [status, { description }] of Object.entries(post?.responses ?? {})) {
        for (const [, code] of description.matchAll(/^- `(\w+)`/gm)) documented.add(`${status} ${code}`);
      }
    }
    expect([...documented].toSorted()).toEqual(specified);
  });

  test('come with their own status, or one that the table allows', () => {
    expect(new ApiError('timeout', 'x').status).toBe(504);
    expect(new ApiError('invalid_request', 'x', { status: 405 }).status).toBe(405);
    expect(isApiErrorCode('constructor')).toBe(false);
    expect(isApiErrorCode('timeout')).toBe(true);
  });
});

test('every operation is documented at its path', () => {
  const posts = Object.entries(document.paths).flatMap(([path, { post }]) =>
    post ? [`${path} ${post.operationId}`] : [],
  );
  expect(posts.toSorted()).toEqual(OPERATION_NAMES.map((name) => `${OPERATIONS[name].path} ${name}`).toSorted());
  const probes = Object.entries(document.paths).flatMap(([path, { get }]) => (get ? [path] : []));
  expect(probes.toSorted()).toEqual(['/healthz', '/metrics', '/readyz', '/v1/health']);
});

test('every reference leads to a component, and every component is used', () => {
  const references = new Set(Array.from(text.matchAll(/"#\/components\/schemas\/(\w+)"/g), ([, name]) => name));
  expect([...references].toSorted()).toEqual(Object.keys(document.components.schemas).toSorted());
  expect(text).not.toMatch(/\$defs|jsonSchema/);
});
