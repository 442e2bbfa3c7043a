import { setTimeout as delay } from 'node:timers/promises';
import type { ServerControl } from '../server/control.ts';
import type { Backend } from '../shapes/server.ts';

const LOOK_MS = 50;
/** Longest wait for the first report of a server that runs; one that hangs sends none. */
const REPORT_MS = 5000;

/**
 * Waits until the server neither starts nor stops. The standalone server runs from its first line on, and reports its bundles a
 * moment later: before that all of them look stopped, and a switch would neither stop nor watch what is starting.
 */
export async function serverSettled(
  server: Pick<ServerControl, 'status' | 'bundles'>,
  backend: Backend,
  signal: AbortSignal,
  reportMs = REPORT_MS,
): Promise<void> {
  let runsSince: number | null = null;
  for (;;) {
    const { state } = server.status();
    const isMoving = state === 'starting' || state === 'stopping';
    if (isMoving) runsSince = null;
    else if (state !== 'running' || backend !== 'standalone' || server.bundles() !== null) return;
    else {
      runsSince ??= performance.now();
      if (performance.now() - runsSince >= reportMs) return;
    }
    await delay(LOOK_MS, undefined, { signal });
  }
}
