import { createHmac } from 'node:crypto';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRequestEnvelope, writeRequestEnvelope } from '#protocol/envelope.ts';
import { ApiError } from '#protocol/errors.ts';
import { importSecret, isSameSignature, signRequest, signResponse } from '#protocol/signing.ts';

const secret = fc.string({ unit: 'grapheme', minLength: 40, maxLength: 60 }).filter((text) => text.trim().length >= 32);
const visible = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
  maxLength: 64,
});
const kid = fc.stringMatching(/^[A-Za-z0-9._-]{1,64}$/);
const path = fc.constantFrom('/v1/data/find', '/v1/data/insert', '/v1/health');
const payload = fc.string({ unit: 'grapheme', maxLength: 60 });

/** The sidecar's view of a body: does the signature in it hold? A refused shape does not. */
function isAccepted(body: Buffer, key: ReturnType<typeof importSecret>, atPath: string): boolean {
  const text = body.toString('utf8');
  if (!Buffer.from(text, 'utf8').equals(body)) return false;
  try {
    const { kid: id, ts, nonce, payload: content, sig } = parseRequestEnvelope(text, 1_000_000);
    return isSameSignature(sig, signRequest(key, atPath, id, ts, nonce, content));
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

describe('a signed request', () => {
  const signed = fc.record({ secret, path, kid, ts: fc.integer({ min: 0, max: 4e9 }), nonce: visible, payload });

  function bodyOf(request: {
    secret: string;
    path: string;
    kid: string;
    ts: number;
    nonce: string;
    payload: string;
  }): Buffer {
    const { kid: id, ts, nonce, payload: content } = request;
    const sig = signRequest(importSecret(request.secret), request.path, id, ts, nonce, content);
    return Buffer.from(writeRequestEnvelope({ v: 1, kid: id, ts, nonce, payload: content, sig }));
  }

  test('is refused after every change to a byte of its envelope', () => {
    fc.assert(
      fc.property(signed, fc.nat(), fc.integer({ min: 1, max: 255 }), (request, at, flip) => {
        const body = bodyOf(request);
        const key = importSecret(request.secret);
        expect(isAccepted(body, key, request.path)).toBe(true);
        const changed = Buffer.from(body);
        changed[at % body.length] = (body[at % body.length] ?? 0) ^ flip;
        expect(isAccepted(changed, key, request.path)).toBe(isSameMeaning(body, changed));
      }),
      { numRuns: 2000 },
    );
  });

  test('is refused at every other path and with every other secret', () => {
    fc.assert(
      fc.property(signed, secret, fc.string(), (request, other, otherPath) => {
        const body = bodyOf(request);
        const isSameSecret = other.trim() === request.secret.trim();
        expect(isAccepted(body, importSecret(other), request.path)).toBe(isSameSecret);
        expect(isAccepted(body, importSecret(request.secret), otherPath)).toBe(otherPath === request.path);
        const upper = request.path.toUpperCase();
        expect(isAccepted(body, importSecret(request.secret), upper)).toBe(false);
      }),
    );
  });
});

/** Some changes leave the same values: another white space, another letter case of an escape. By the native parser. */
function isSameMeaning(body: Buffer, changed: Buffer): boolean {
  try {
    const text = changed.toString('utf8');
    if (!Buffer.from(text, 'utf8').equals(changed)) return false;
    const [one, other] = [JSON.parse(body.toString('utf8')), JSON.parse(text)];
    return ['v', 'kid', 'ts', 'nonce', 'payload', 'sig'].every((name) => one[name] === other[name]);
  } catch {
    return false;
  }
}

test('an answer is bound to its request, status and payload', () => {
  fc.assert(
    fc.property(
      secret,
      visible,
      fc.constantFrom(200, 400, 404),
      payload,
      visible,
      payload,
      (text, nonce, status, content, otherNonce, otherContent) => {
        const key = importSecret(text);
        const sig = signResponse(key, nonce, status, content);
        expect(isSameSignature(sig, signResponse(key, nonce, status, content))).toBe(true);
        expect(isSameSignature(sig, signResponse(key, otherNonce, status, content))).toBe(nonce === otherNonce);
        expect(isSameSignature(sig, signResponse(key, nonce, status, otherContent))).toBe(content === otherContent);
        expect(isSameSignature(sig, signResponse(key, nonce, status + 1, content))).toBe(false);
        expect(isSameSignature(sig, signRequest(key, nonce, String(status), 1, 'n', content))).toBe(false);
      },
    ),
  );
});

describe('signatures', () => {
  const key = importSecret('0123456789abcdef0123456789abcdef');
  const sig = signResponse(key, 'n', 200, '{}');

  test('are 43 characters of base64url', () => {
    expect(sig).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  test('are the same only character for character', () => {
    const others = [
      '',
      `${sig}=`,
      sig.slice(1),
      ` ${sig}`,
      sig.toUpperCase(),
      // The low byte of each character is the right one.
      Array.from(sig, (character) => String.fromCharCode(character.charCodeAt(0) + 0x100)).join(''),
      '\0'.repeat(43),
      '🚗'.repeat(21),
    ];
    for (const other of others) {
      expect(isSameSignature(sig, other)).toBe(false);
      expect(isSameSignature(other, sig)).toBe(false);
    }
    expect(isSameSignature('', '')).toBe(false);
    expect(isSameSignature(sig, sig)).toBe(true);
  });
});

function hmac(key: string, text: string): string {
  return createHmac('sha256', key).update(text, 'utf8').digest('base64url');
}

describe('secrets', () => {
  test('sign as RFC 2104 says, keys and texts of any length', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme', minLength: 2600, maxLength: 5600 }),
    );
    const key = fc.string({ unit: 'grapheme', minLength: 32, maxLength: 140 }).map((bytes) => `a${bytes}b`);
    fc.assert(
      fc.property(key, text, text, (bytes, first, second) => {
        const [signing, other] = [importSecret(bytes), importSecret(`${bytes}other`)];
        // The second after the first, and another key between: nothing of a longer text is left behind.
        expect([first, second, first].map((one) => other.sign(one) && signing.sign(one))).toEqual(
          [first, second, first].map((one) => hmac(bytes, one)),
        );
        const [head, rest] = [first, second].map((one) => one.toWellFormed()) as [string, string];
        expect(signing.sign(head, rest)).toBe(hmac(bytes, head + rest));
        expect(signing.sign(head, Buffer.from(rest))).toBe(hmac(bytes, head + rest));
      }),
      { numRuns: 25 },
    );
  });

  test.each([16 * 1024 - 64, 16 * 1024, 100_000, 2 * 1024 * 1024 - 64, 2 * 1024 * 1024])('sign %i bytes', (length) => {
    const [secretText, text] = ['s'.repeat(40), 'ä'.repeat(length / 2)];
    const key = importSecret(secretText);
    expect(key.sign(text)).toBe(hmac(secretText, text));
    expect(key.sign('', Buffer.from(text))).toBe(hmac(secretText, text));
    expect(key.sign('short')).toBe(hmac(secretText, 'short'));
  });

  test('are not shown by what prints an object', () => {
    const secret = 'hunter2-hunter2-hunter2-hunter2-hunter2';
    const shown = `${inspect(importSecret(secret), { showHidden: true, depth: 9 })} ${JSON.stringify(importSecret(secret))}`;
    expect(shown).not.toMatch(/hunter2|buffer|[0-9a-f]{2} [0-9a-f]{2}/i);
  });

  test('count in UTF-8 bytes, without white space around them', () => {
    expect(() => importSecret('ü'.repeat(16))).not.toThrow();
    expect(() => importSecret('ü'.repeat(15))).toThrow(RangeError);
    expect(() => importSecret(`  ${'a'.repeat(31)}\n`)).toThrow('expected a secret of at least 32 bytes, got 31');
    const [bare, padded] = [importSecret('a'.repeat(32)), importSecret(`\r\n ${'a'.repeat(32)}\t`)];
    expect(padded.sign('text')).toBe(bare.sign('text'));
  });

  test('are never decoded', () => {
    const base64 = Buffer.alloc(32, 7).toString('base64url');
    expect(importSecret(base64).sign('text')).toBe(hmac(base64, 'text'));
  });

  test('do not stand in the message that refuses them', () => {
    expect(() => importSecret('hunter2')).not.toThrow('hunter2');
  });
});
