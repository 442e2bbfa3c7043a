import { ERROR_STATUS, type ErrorKey } from '#panel/shapes/error-keys.ts';
import { type TokenRoute, tokenRoutes } from './token-routes.ts';

type Node = Record<string, unknown>;

/** Refusals that any route has for a token; those of its own work come beside them. */
const EVERYWHERE: readonly ErrorKey[] = [
  ...(['host.invalid', 'origin.invalid', 'token.invalid', 'token.expired', 'token.address', 'rate.limited'] as const),
  ...(['token.route', 'permission.missing', 'body.type', 'body.malformed', 'body.large', 'internal.error'] as const),
];

const DESCRIPTION = `Routes of the panel for programs. A token of an account (Settings, Tokens) is sent as
\`Authorization: Bearer pnl_…\`. It may do what it lists and its maker holds at that moment; \`x-permissions\` names what a
route needs. Cookies are neither read nor set. A refusal is \`{"ok":false,"error":KEY}\`. A token makes 10 calls a second
after a burst of 60; above that, 429 with Retry-After.`;

/** The machine-readable description, from the panel's own tables of routes. */
export function buildPanelDocument(version: string): Node {
  const paths: Record<string, Node> = {};
  for (const route of tokenRoutes()) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Panel API for programs',
      version,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://127.0.0.1:20772', description: 'The default address' }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', bearerFormat: 'pnl_ and 43 characters of base64url' },
      },
      schemas: { Refusal: refusal() },
      responses: { Refusal: { description: 'Refused', content: json({ $ref: '#/components/schemas/Refusal' }) } },
    },
  };
}

function operation({ method, path, parameters, query = {}, needs, body, summary, answer, type }: TokenRoute): Node {
  const known = type === undefined ? json({ type: ['object', 'array'] }) : { [type]: { schema: { type: 'string' } } };
  return {
    operationId: `${method.toLowerCase()} ${path}`.replaceAll(/[^a-z]+([a-z]|$)/gi, (_, letter: string) =>
      letter.toUpperCase(),
    ),
    summary,
    'x-permissions': { [needs.kind]: needs.permissions },
    parameters: [
      ...parameters.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
      ...Object.entries(query).map(([name, description]) => ({
        ...{ name, in: 'query', required: false, description, schema: { type: 'string' } },
      })),
    ],
    ...(body === null ? {} : { requestBody: { required: true, content: json(body) } }),
    responses: {
      200: { description: `Done: ${answer}`, content: known },
      default: { $ref: '#/components/responses/Refusal' },
    },
  };
}

function refusal(): Node {
  const meanings = EVERYWHERE.map((key) => `\`${key}\` ${ERROR_STATUS[key]}`).join(', ');
  return {
    type: 'object',
    required: ['ok', 'error'],
    description: `For any route: ${meanings}. Others belong to the work of a route.`,
    properties: {
      ok: { const: false },
      error: { type: 'string', description: 'Key of the refusal' },
      field: { type: 'string', description: 'Field of the body at fault' },
    },
  };
}

function json(schema: Node): Node {
  return { 'application/json': { schema } };
}
