import { CONNECTOR_ERRORS } from '#protocol/errors.ts';
import { OPERATION_NAMES, OPERATIONS, type OperationName } from '#protocol/operations.ts';
import { PAYLOADS } from '#protocol/payloads.ts';
import { ERROR_PAYLOAD, RESULTS } from '#protocol/results.ts';
import { contentSchemas } from './content-schemas.ts';
import { envelopes } from './envelopes.ts';
import { errorTable, failuresOf } from './failures.ts';
import { componentRef, jsonText, type Node, toJsonSchema } from './json-schema.ts';
import { probes } from './probes.ts';

const DESCRIPTION = `A JSON-over-HTTP front end for databases. A client declares a schema for a namespace, then inserts, finds,
updates, upserts, deletes and counts rows.

Every POST carries a signed envelope; the operation's own payload is JSON text inside its field \`payload\`, and so is the
answer's. The signature is base64url of HMAC-SHA256 with the shared secret (the UTF-8 bytes of its text without surrounding
white space) over \`v1\`, the path, \`kid\`, \`ts\`, \`nonce\` and the exact payload, joined by line feeds; that of an answer
over \`v1resp\`, the request's nonce, the status and the payload. \`db_connector/protocol/vectors.json\` has examples.

Payloads are read strictly: a property that stands twice, \`__proto__\`, and numbers that overflow a double are refused.
Unknown properties are ignored. Numbers keep every digit, so read answers with a parser that does.`;

/** The machine-readable description of the API, from the tables and schemas that validate it. */
export function buildDocument(): Node {
  const components: Record<string, Node> = { ...envelopes(), ...contentSchemas() };
  toJsonSchema(ERROR_PAYLOAD, components);
  const paths: Record<string, Node> = { ...probes() };
  for (const name of OPERATION_NAMES) {
    const { path } = OPERATIONS[name];
    paths[path] = { ...paths[path], post: operation(name, components) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Signed database API',
      version: '0.2.0',
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://127.0.0.1:20771', description: 'The default address' }],
    tags: ['probes', 'service', 'schema', 'data'].map((name) => ({ name })),
    paths: sorted(paths),
    components: { schemas: sorted(components) },
    'x-error-codes': errorTable(),
    'x-connector-codes': CONNECTOR_ERRORS,
  };
}

function sorted(nodes: Record<string, Node>): Node {
  return Object.fromEntries(Object.entries(nodes).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function operation(name: OperationName, components: Record<string, Node>): Node {
  const { path, summary, retry, timeoutMs } = OPERATIONS[name];
  const title = name.split('.').map(capitalised).join('');
  components[`${title}Payload`] = toJsonSchema(PAYLOADS[name], components);
  const request = envelopeWith('RequestEnvelope', componentRef(`${title}Payload`), 'The payload');
  const answer = envelopeWith('ResponseEnvelope', toJsonSchema(RESULTS[name], components), 'The result');
  return {
    operationId: name,
    summary,
    tags: [path.split('/').length === 3 ? 'service' : (path.split('/')[2] ?? 'service')],
    requestBody: { required: true, content: { 'application/json': { schema: request } } },
    responses: {
      200: { description: 'Done', content: { 'application/json': { schema: answer } } },
      ...failuresOf(name),
    },
    'x-retry': retry,
    ...(timeoutMs === null ? {} : { 'x-timeout-ms': timeoutMs }),
  };
}

function envelopeWith(envelope: string, content: Node, description: string): Node {
  const properties = { payload: jsonText(content, description) };
  return { allOf: [componentRef(envelope), { type: 'object', properties }] };
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
