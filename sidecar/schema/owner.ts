import { hostname } from 'node:os';
import { sha256Hex } from '#protocol/canonical-json.ts';

/**
 * Who holds a lock, the same over restarts of one sidecar: it takes over its own old lock at once (contract section 6).
 * `place` is what makes it that sidecar on its machine, the absolute path of its configuration.
 */
export function lockOwner(place: string): string {
  return `${hostname()}:${sha256Hex(place).slice(0, 16)}`;
}
