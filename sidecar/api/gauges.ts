import type { Engine } from '../engine/engine.ts';
import type { Authenticator } from '../operations/authenticate.ts';
import type { NonceStore } from '../security/nonce-store.ts';
import type { RateLimit } from '../security/rate-limit.ts';
import type { Gauge } from './metrics.ts';

export interface GaugeSources {
  readonly engine: Pick<Engine, 'stats'>;
  readonly authenticator: Authenticator;
  readonly addressLimit: RateLimit;
  readonly keyLimit: RateLimit;
  readonly nonces: NonceStore;
}

/** Figures of the API, the engine and the process. */
export function gaugesOf({ engine, authenticator, addressLimit, keyLimit, nonces }: GaugeSources): Gauge[] {
  const counter = (name: string, help: string, read: () => number): Gauge => ({ name, help, type: 'counter', read });
  const gauge = (name: string, help: string, read: () => number): Gauge => ({ name, help, type: 'gauge', read });
  const rateLimited = () => addressLimit.refused + keyLimit.refused;
  return [
    counter('sidecar_auth_failures_total', 'Failed authentications.', () => authenticator.failures),
    counter('sidecar_rate_limited_total', 'Requests over the limit of a key or address.', rateLimited),
    gauge('sidecar_nonces', 'Nonces that are remembered.', () => nonces.size),
    gauge('sidecar_reads_waiting', 'Reads that wait for a thread.', () => engine.stats().waitingReads),
    gauge('sidecar_reads_running', 'Reads that run.', () => engine.stats().runningReads),
    gauge('sidecar_writes_waiting', 'Writes that wait for a commit.', () => engine.stats().waitingWrites),
    counter('sidecar_commits_total', 'Commits to the disk.', () => engine.stats().commits),
    counter('sidecar_writes_committed_total', 'Writes in them.', () => engine.stats().committedWrites),
    counter('sidecar_database_timeouts_total', 'Statements ended at their deadline.', () => engine.stats().timeouts),
    gauge('process_resident_memory_bytes', 'Memory of the process.', () => process.memoryUsage.rss()),
  ];
}
