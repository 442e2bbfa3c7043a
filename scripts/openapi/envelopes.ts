import { KID_PATTERN, NONCE_PATTERN } from '#protocol/envelope.ts';
import { API_ERRORS } from '#protocol/errors.ts';
import { DEFAULT_MAX_PAYLOAD_CHARS, ENVELOPE_VERSION, SIGNATURE_LENGTH } from '#protocol/limits.ts';
import { componentRef, jsonText, type Node } from './json-schema.ts';

const signature = {
  type: 'string',
  pattern: `^[A-Za-z0-9_-]{${SIGNATURE_LENGTH}}$`,
};

export function envelopes(): Record<string, Node> {
  return { RequestEnvelope: requestEnvelope(), ResponseEnvelope: responseEnvelope(), ErrorEnvelope: errorEnvelope() };
}

function requestEnvelope(): Node {
  return {
    type: 'object',
    required: ['v', 'kid', 'ts', 'nonce', 'payload', 'sig'],
    properties: {
      v: { const: ENVELOPE_VERSION },
      kid: { type: 'string', pattern: KID_PATTERN.source, description: 'Key id' },
      ts: { type: 'integer', description: 'Unix time in seconds, written without fraction or exponent' },
      nonce: { type: 'string', pattern: NONCE_PATTERN.source, description: 'Never used before with this key' },
      payload: {
        type: 'string',
        maxLength: DEFAULT_MAX_PAYLOAD_CHARS,
        description: 'JSON text, signed as it is; its length counts in UTF-16 code units and may be configured',
      },
      sig: {
        ...signature,
        description: 'HMAC-SHA256 over v1, path, kid, ts, nonce and payload, joined by line feeds; base64url',
      },
    },
  };
}

function responseEnvelope(): Node {
  return {
    type: 'object',
    required: ['v', 'ok', 'status', 'payload'],
    properties: {
      v: { const: ENVELOPE_VERSION },
      ok: { type: 'boolean' },
      status: { type: 'integer', description: 'Equals the HTTP status' },
      payload: { type: 'string', description: 'JSON text: the result, or an error object' },
      sig: {
        ...signature,
        description:
          "HMAC-SHA256 over v1resp, the request's nonce, status and payload, joined by line feeds; base64url. Absent where the request was not authenticated",
      },
      code: { type: 'string', description: 'Error code' },
    },
  };
}

function errorEnvelope(): Node {
  const payload = jsonText(componentRef('ErrorPayload'), 'The error');
  const properties = { ok: { const: false }, payload, code: { enum: Object.keys(API_ERRORS) } };
  return { allOf: [componentRef('ResponseEnvelope'), { type: 'object', properties }] };
}
