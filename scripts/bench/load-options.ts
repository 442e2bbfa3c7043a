import type { LoadKind } from './payloads.ts';
import type { PeerKind } from './peers/peer-requests.ts';

/** Options of the load generator. */
export interface LoadOptions {
  readonly port: number;
  /** Requests of this kind; those to a peer are unsigned. */
  readonly kind: LoadKind | PeerKind;
  readonly kid: string;
  readonly secret: string;
  readonly connections: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Sidecar that the nonces name, as the connector's do. Default: none. */
  readonly instance?: string;
  /** Over streams the calls are spread over `STREAMS` of them. Default: POST. */
  readonly transport?: 'post' | 'stream';
  /** Requests fall due at this rate whatever the server does, and their time counts from then. Default: as fast as it can. */
  readonly ratePerSecond?: number;
  /** Ends after so many, counted from the first; `seconds` is the longest it may take. */
  readonly maxRequests?: number;
}
