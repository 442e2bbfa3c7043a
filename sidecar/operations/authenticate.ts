import { instanceOfNonce, type RequestEnvelope } from '#protocol/envelope.ts';
import { ApiError } from '#protocol/errors.ts';
import type { SigningKey } from '#protocol/signing.ts';
import type { Client } from '../security/client.ts';
import type { ApiKey, Keyring } from '../security/keyring.ts';
import type { LockOut } from '../security/lock-out.ts';
import type { NonceStore } from '../security/nonce-store.ts';
import type { RateLimit } from '../security/rate-limit.ts';
import { RateLimited } from './answer.ts';

export interface AuthenticatorOptions {
  readonly keyring: Keyring;
  readonly nonces: NonceStore;
  readonly lockOut: LockOut;
  readonly addressLimit: RateLimit;
  readonly requireHttps: 'always' | 'non-loopback' | 'never';
  readonly maxSkewSeconds: number;
  /** Id of this sidecar, which a nonce may name; left out if it has none. */
  readonly instance?: () => string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Milliseconds that never go back. */
  readonly monotonicNow: () => number;
}

export interface Authenticated {
  readonly key: ApiKey;
  /** Verified the request and signs the answer. */
  readonly secret: SigningKey;
  readonly envelope: RequestEnvelope;
}

/** Contract section 3, steps 1 and 4 to 6. */
export class Authenticator {
  readonly #options: AuthenticatorOptions;
  #failures = 0;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  get failures(): number {
    return this.#failures;
  }

  /**
   * Step 1, from the head alone: throws `ApiError` before the body is read. For a loopback client the lock-out waits for the
   * envelope, which names the key.
   */
  admit(client: Client): void {
    const { requireHttps, lockOut, addressLimit, monotonicNow } = this.#options;
    const needsHttps = requireHttps === 'always' || (requireHttps === 'non-loopback' && !client.isLoopback);
    if (needsHttps && !client.isSecure) throw new ApiError('https_required', 'this address must use HTTPS');
    const nowMs = monotonicNow();
    const lockedMs = client.isLoopback ? 0 : lockOut.remainingMs(client.address, nowMs);
    if (lockedMs > 0) throw lockedOut(lockedMs);
    if (!addressLimit.take(client.address, nowMs)) throw new RateLimited('too many requests from this address', 1000);
  }

  /**
   * Steps 4 to 6, after `admit`. Throws `ApiError`; the answer to that is not signed. Nothing may be done for the request before
   * its nonce is kept (`NonceStore.whenKept`). Everything is computed before anything is decided, so that no failure is quicker
   * than another.
   */
  authenticate(envelope: RequestEnvelope, path: string, client: Client): Authenticated {
    const { keyring, nonces, lockOut, maxSkewSeconds, now, monotonicNow } = this.#options;
    const key = keyring.find(envelope.kid);
    const mayBeLocked = client.isLoopback && lockOut.hasSources;
    const lockedMs = mayBeLocked ? lockOut.remainingMs(sourceOf(client, key), monotonicNow()) : 0;
    if (lockedMs > 0) throw lockedOut(lockedMs);
    const nowMs = now();
    const nowSeconds = Math.floor(nowMs / 1000);
    const isAllowedAddress = key.mayComeFrom(client.address);
    const secret = keyring.verify(key, path, envelope, nowMs);
    const isInTime = Math.abs(nowSeconds - envelope.ts) <= maxSkewSeconds;
    if (secret === null || !isAllowedAddress || !isInTime) throw this.#fail(sourceOf(client, key));
    if (this.#isForAnother(envelope.nonce)) throw unauthorized();
    const verdict = nonces.accept(envelope.kid, envelope.nonce, envelope.ts, nowSeconds);
    switch (verdict) {
      case 'new':
        return { key, secret, envelope };
      case 'replayed':
        throw this.#fail(sourceOf(client, key));
      case 'early':
        throw unauthorized();
      case 'refused':
        throw notRemembered();
      default:
        return verdict satisfies never;
    }
  }

  /** Not counted for the lock-out: the signature is right, and a client that was led to another sidecar asks for its id next. */
  #isForAnother(nonce: string): boolean {
    const { instance } = this.#options;
    const named = instance === undefined ? null : instanceOfNonce(nonce);
    return named !== null && named !== instance?.();
  }

  #fail(source: string): ApiError {
    this.#failures += 1;
    this.#options.lockOut.fail(source, this.#options.monotonicNow());
    return unauthorized();
  }
}

/** Programs of one box share its address, so they are distinguished by key; unknown keys share one count. */
function sourceOf({ address, isLoopback }: Client, { kid }: ApiKey): string {
  return isLoopback ? `${address} ${kid}` : address;
}

/** The disk does not take the nonce, or memory is full. */
export function notRemembered(): ApiError {
  return new ApiError('internal_error', 'no request can be remembered now', { status: 503 });
}

/** The same for every failure, byte for byte. */
function unauthorized(): ApiError {
  return new ApiError('unauthorized', 'not authorized');
}

function lockedOut(lockedMs: number): RateLimited {
  return new RateLimited('too many failed authentications', lockedMs);
}
