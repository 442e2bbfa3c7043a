import { createPublicKey, verify } from 'node:crypto';
import { PanelError } from '../panel-error.ts';

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** Keys whose signature makes a release trusted. */
export interface ReleaseTrust {
  /** Base64 of the raw 32 bytes of Ed25519. */
  readonly keys: readonly string[];
  /** The owner takes releases without a known signature too. */
  readonly allowsUnsigned: boolean;
}

/**
 * Judges the exact bytes of a manifest. Returns whether a trusted key has signed them.
 *
 * @param signature text of RELEASE.sig; null if there is none
 * @throws PanelError `update.unsigned`
 */
export function checkSignature(manifest: Uint8Array, signature: string | null, trust: ReleaseTrust): boolean {
  const bytes = Buffer.from(signature ?? '', 'base64');
  const isSigned = bytes.length === SIGNATURE_BYTES && trust.keys.some((key) => isSignedBy(manifest, bytes, key));
  if (!isSigned && !trust.allowsUnsigned) {
    const detail = signature === null ? 'it has no signature' : 'no key that this sidecar trusts has signed it';
    throw new PanelError('update.unsigned', { detail });
  }
  return isSigned;
}

function isSignedBy(manifest: Uint8Array, signature: Uint8Array, key: string): boolean {
  const raw = Buffer.from(key, 'base64');
  if (raw.length !== KEY_BYTES) return false;
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') };
  try {
    return verify(null, manifest, createPublicKey({ key: jwk, format: 'jwk' }), signature);
  } catch {
    return false;
  }
}
