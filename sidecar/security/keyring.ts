import { randomBytes } from 'node:crypto';
import type { RequestEnvelope } from '#protocol/envelope.ts';
import { isSameSignature, requestHead, SigningKey } from '#protocol/signing.ts';
import { AddressRanges } from './addresses.ts';

/** Key of the configuration, its secrets read. */
export interface KeyRow {
  readonly kid: string;
  readonly secret: SigningKey;
  /** The secret from before a rotation, good until then (epoch milliseconds). */
  readonly previous: { readonly secret: SigningKey; readonly until: number } | null;
  readonly operations: readonly string[];
  readonly namespaces: readonly string[];
  readonly allowUnfilteredWrites: boolean;
  /** CIDR ranges; empty allows all. */
  readonly addresses: readonly string[];
}

/** Keys that a box has revoked for all. */
export interface Revoked {
  has(kid: string): boolean;
}

export interface ApiKey {
  readonly kid: string;
  readonly current: SigningKey;
  readonly previous: SigningKey;
  /** Epoch milliseconds; the previous secret is no good from then on. */
  readonly previousUntil: number;
  readonly allowUnfilteredWrites: boolean;
  mayUseOperation(operation: string): boolean;
  mayUseNamespace(namespace: string): boolean;
  mayComeFrom(address: string): boolean;
}

/**
 * The keys. An unknown `kid` gets a key that no signature fits, so that it costs what a known one costs; and where any
 * key is being rotated, every verification computes two HMACs, so that time does not tell which.
 */
export class Keyring {
  readonly #keys = new Map<string, ApiKey>();
  readonly #nobody: ApiKey;
  readonly #isRotating: boolean;
  readonly #revoked: Revoked;
  /** HMACs computed so far, for the tests of equal cost. */
  hmacs = 0;

  /** @param revoked is asked at each request */
  constructor(rows: readonly KeyRow[], revoked: Revoked = new Set()) {
    this.#revoked = revoked;
    for (const row of rows) this.#keys.set(row.kid, apiKey(row));
    this.#isRotating = rows.some((row) => row.previous !== null);
    this.#nobody = apiKey({
      kid: '',
      secret: impossibleSecret(),
      previous: null,
      operations: [],
      namespaces: [],
      allowUnfilteredWrites: false,
      addresses: [],
    });
  }

  /** The key of an unknown or revoked `kid` has an empty one. */
  find(kid: string): ApiKey {
    if (this.#revoked.has(kid)) return this.#nobody;
    return this.#keys.get(kid) ?? this.#nobody;
  }

  /** The secret that verifies the envelope's signature; null if none does, or if the key is unknown. */
  verify(key: ApiKey, path: string, envelope: RequestEnvelope, nowMs: number): SigningKey | null {
    const { kid, ts, nonce, payload, sig: signature } = envelope;
    const head = requestHead(path, kid, ts, nonce);
    const isCurrent = this.#matches(key.current, head, payload, signature);
    const isPrevious =
      this.#isRotating && this.#matches(key.previous, head, payload, signature) && nowMs < key.previousUntil;
    if (key === this.#nobody) return null;
    return isCurrent ? key.current : isPrevious ? key.previous : null;
  }

  #matches(secret: SigningKey, head: string, payload: string, signature: string): boolean {
    this.hmacs += 1;
    return isSameSignature(secret.sign(head, payload), signature);
  }
}

function apiKey(row: KeyRow): ApiKey {
  const operations = new Set(row.operations);
  const namespaces = new Set(row.namespaces);
  const addresses = new AddressRanges(row.addresses);
  return {
    kid: row.kid,
    current: row.secret,
    previous: row.previous?.secret ?? impossibleSecret(),
    previousUntil: row.previous?.until ?? 0,
    allowUnfilteredWrites: row.allowUnfilteredWrites,
    mayUseOperation: (operation) => operations.has('*') || operations.has(operation),
    mayUseNamespace: (namespace) => namespaces.has('*') || namespaces.has(namespace),
    mayComeFrom: (address) => addresses.isEmpty || addresses.has(address),
  };
}

function impossibleSecret(): SigningKey {
  return new SigningKey(randomBytes(32));
}
