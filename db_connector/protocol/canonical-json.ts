import { createHash } from 'node:crypto';
import { type Writable, writeJson } from './json-writer.ts';

/** RFC 8785, with numbers that no double holds written digit for digit (contract section 6). */
export function canonicalJson(value: Writable): string {
  return writeJson(value, { sortNames: true });
}

export function sha256Hex(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/** Fingerprint stored with an idempotency key: equal only for the same payload of the same operation. */
export function fingerprint(operation: string, payload: Writable): string {
  return sha256Hex(`${operation}\n${canonicalJson(payload)}`);
}
