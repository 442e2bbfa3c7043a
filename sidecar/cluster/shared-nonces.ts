import { hash } from 'node:crypto';
import { instanceOfNonce, type RequestEnvelope } from '#protocol/envelope.ts';
import { ApiError } from '#protocol/errors.ts';
import type { SharedNonce } from '../engine/cluster/cluster-calls.ts';
import type { Neighbours } from './neighbours.ts';

/** The clock of a sidecar that deletes expired nonces may be ahead by as much as that of a client. */
const SKEWS = 2;
/** Time stamps have whole seconds. */
const ROUNDING_MS = 1000;

export interface SharedNoncesOptions {
  readonly neighbours: Pick<Neighbours, 'hasOthers' | 'knownSince'>;
  readonly maxSkewSeconds: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Requests that another sidecar of the database would accept too: their nonces name no sidecar, and there may be another one. */
export class SharedNonces {
  readonly #options: SharedNoncesOptions;

  constructor(options: SharedNoncesOptions) {
    this.#options = options;
  }

  /**
   * Nonce to record with the write; null if no other sidecar accepts the request.
   * @throws ApiError `unauthorized` for a request from before the others could know this sidecar
   */
  of({ nonce, sig, ts }: Pick<RequestEnvelope, 'nonce' | 'sig' | 'ts'>): SharedNonce | null {
    const { neighbours, maxSkewSeconds, now } = this.#options;
    if (!neighbours.hasOthers || instanceOfNonce(nonce) !== null) return null;
    if (ts < Math.floor(neighbours.knownSince / 1000)) throw new ApiError('unauthorized', 'not authorized');
    const expiresAt = Math.max(ts * 1000, now()) + SKEWS * maxSkewSeconds * 1000 + ROUNDING_MS;
    return { nonce, fingerprint: hash('sha256', sig, 'hex'), expiresAt };
  }
}
