import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { canonicalJson, fingerprint, sha256Hex } from '#protocol/canonical-json.ts';
import { parseRequestEnvelope, parseResponseEnvelope, writeRequestEnvelope } from '#protocol/envelope.ts';
import { ApiError } from '#protocol/errors.ts';
import { isJsonObject, parseJson } from '#protocol/json.ts';
import { parseSchema, schemaHash, schemaToJson } from '#protocol/schema.ts';
import { importSecret, isSameSignature, signRequest, signResponse } from '#protocol/signing.ts';

interface Vectors {
  secrets: Record<string, string>;
  requests: {
    name: string;
    secret: string;
    path: string;
    kid: string;
    ts: number;
    nonce: string;
    payload: string;
    signature: string;
    body: string;
  }[];
  refusedRequests: {
    name: string;
    secret: string;
    path: string;
    now: number;
    maxSkewSeconds: number;
    body: string;
    refusal: string;
  }[];
  answers: {
    name: string;
    secret: string;
    nonce: string;
    status: number;
    payload: string;
    signature: string;
    body: string;
  }[];
  refusedAnswers: { name: string; secret: string; nonce: string; body: string }[];
  canonicalJson: { name: string; text: string; canonical: string; sha256: string }[];
  fingerprints: { operation: string; payload: string; fingerprint: string }[];
  schemas: { name: string; declared: string; normalised: string; hash: string }[];
}

const vectors: Vectors = JSON.parse(
  readFileSync(new URL('../../../db_connector/protocol/vectors.json', import.meta.url), 'utf8'),
);

function secretOf(name: string): string {
  const secret = vectors.secrets[name];
  if (secret === undefined) throw new Error(`no secret ${name}`);
  return secret;
}

/** Written from the specification with Web Crypto, sharing nothing with the code under test. */
async function hmac(secret: string, fields: readonly (string | number)[]): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const bytes = new TextEncoder().encode(secret.trim());
  const key = await globalThis.crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign']);
  const mac = await globalThis.crypto.subtle.sign('HMAC', key, new TextEncoder().encode(fields.join('\n')));
  return btoa(String.fromCharCode(...new Uint8Array(mac)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

/** Authentication of a body, from the functions that the sidecar uses. */
function authenticate(vector: Vectors['refusedRequests'][number]): string {
  try {
    const envelope = parseRequestEnvelope(vector.body, 1_000_000);
    const { kid, ts, nonce, payload, sig } = envelope;
    const key = importSecret(secretOf(vector.secret));
    const isInTime = Math.abs(vector.now - ts) <= vector.maxSkewSeconds;
    const isSigned = isSameSignature(sig, signRequest(key, vector.path, kid, ts, nonce, payload));
    return isInTime && isSigned ? 'accepted' : 'unauthorized';
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

describe('requests', () => {
  test.each(vectors.requests)('$name', async ({ secret, path, kid, ts, nonce, payload, signature, body }) => {
    expect(await hmac(secretOf(secret), ['v1', path, kid, ts, nonce, payload])).toBe(signature);
    expect(signRequest(importSecret(secretOf(secret)), path, kid, ts, nonce, payload)).toBe(signature);
    const envelope = { v: 1, kid, ts, nonce, payload, sig: signature } as const;
    expect(parseRequestEnvelope(body, 1_000_000)).toEqual(envelope);
    expect(JSON.parse(writeRequestEnvelope(envelope))).toEqual(JSON.parse(body));
    expect(authenticate({ name: '', secret, path, now: ts + 60, maxSkewSeconds: 60, body, refusal: '' })).toBe(
      'accepted',
    );
  });

  test.each(vectors.refusedRequests)('refused: $name', (vector) => {
    expect(authenticate(vector)).toBe(vector.refusal);
  });
});

describe('answers', () => {
  test.each(vectors.answers)('$name', async ({ secret, nonce, status, payload, signature, body }) => {
    expect(await hmac(secretOf(secret), ['v1resp', nonce, status, payload])).toBe(signature);
    expect(signResponse(importSecret(secretOf(secret)), nonce, status, payload)).toBe(signature);
    expect(parseResponseEnvelope(body)).toMatchObject({ v: 1, ok: status === 200, status, payload, sig: signature });
  });

  test.each(vectors.refusedAnswers)('refused: $name', ({ secret, nonce, body }) => {
    const envelope = parseResponseEnvelope(body);
    if (envelope === null) throw new Error('no envelope');
    const computed = signResponse(importSecret(secretOf(secret)), nonce, envelope.status, envelope.payload);
    expect(isSameSignature(envelope.sig ?? '', computed)).toBe(false);
  });
});

test.each(vectors.canonicalJson)('canonical JSON: $name', ({ text, canonical, sha256 }) => {
  expect(canonicalJson(parseJson(text))).toBe(canonical);
  expect(sha256Hex(canonical)).toBe(sha256);
});

test.each(vectors.fingerprints)('fingerprint of $operation', (vector) => {
  const payload = parseJson(vector.payload);
  if (!isJsonObject(payload)) throw new Error('no object');
  expect(fingerprint(vector.operation, payload)).toBe(vector.fingerprint);
});

test.each(vectors.schemas)('schema: $name', ({ declared, normalised, hash }) => {
  const { schema } = parseSchema(parseJson(declared));
  expect(canonicalJson(schemaToJson(schema))).toBe(canonicalJson(parseJson(normalised)));
  expect(schemaHash(schema)).toBe(hash);
  // The hash of the schema that describe answers is the same.
  expect(schemaHash(parseSchema(parseJson(normalised)).schema)).toBe(hash);
});
