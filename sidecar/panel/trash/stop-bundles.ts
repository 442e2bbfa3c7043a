import { setTimeout as delay } from 'node:timers/promises';
import type { Bundles } from '../bundles/bundles.ts';
import type { BundleInfo } from '../shapes/bundles.ts';
import { unavailable } from './bundle-place.ts';

const LOOK_EVERY_MS = 100;
/** The server's own limit for a stop function is 5 s; FXServer reports its resources every few seconds. */
const STOP_MS = 40_000;
/** Time for a server that reports nothing of its bundles. */
const UNREPORTED_MS = 1000;

const RUNS: readonly string[] = ['started', 'starting', 'unknown'];

/** The bundle, then what runs and needs it, directly or by others. */
export function runningWith(name: string, bundles: readonly BundleInfo[]): string[] {
  const found = new Set([name]);
  // Each turn adds at least one, so that a ring of dependencies ends as well.
  for (let size = 0; size < found.size; ) {
    size = found.size;
    for (const bundle of bundles) {
      const needs = bundle.dependencies.some((needed) => found.has(needed));
      if (needs && RUNS.includes(bundle.state)) found.add(bundle.name);
    }
  }
  return [...found].filter((one) => bundles.some(({ name, state }) => name === one && RUNS.includes(state)));
}

/**
 * Stops bundles on a running server, dependents first, and waits until the server says that they have stopped.
 *
 * @param names in the order of `runningWith`
 * @throws PanelError `bundles.unavailable` if one does not stop in time
 */
export async function stopBundles(bundles: Bundles, names: readonly string[], actor: string): Promise<void> {
  for (const name of names.toReversed()) await bundles.act(name, 'stop', actor);
  const until = performance.now() + STOP_MS;
  const unreported = performance.now() + UNREPORTED_MS;
  for (;;) {
    const states = new Map((await bundles.declared()).map(({ name, state }) => [name, state]));
    const left = names.filter((name) => RUNS.includes(states.get(name) ?? 'stopped'));
    const isBlind = left.every((name) => states.get(name) === 'unknown');
    if (left.length === 0 || (isBlind && performance.now() > unreported)) return;
    if (performance.now() > until) throw unavailable(`${left.join(', ')} did not stop within ${STOP_MS / 1000} s`);
    await delay(LOOK_EVERY_MS);
  }
}
