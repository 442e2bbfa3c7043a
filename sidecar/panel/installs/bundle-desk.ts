import { setTimeout as delay } from 'node:timers/promises';
import type { Bundles } from '../bundles/bundles.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import type { BundleInfo } from '../shapes/bundles.ts';
import { type GateLines, LineWatch } from './line-watch.ts';

export interface BundleDeskOptions {
  readonly bundles: Pick<Bundles, 'list' | 'tell' | 'canTell'>;
  readonly settings: Pick<PanelSettings, 'values'>;
  readonly lines: GateLines;
  readonly sendCommand: (text: string, actor: string) => void;
}

/** Bundle that a switch has to stop. A failed one is not expected to come up. */
export interface ActiveBundle {
  readonly name: string;
  readonly isUp: boolean;
}

function isUp({ state }: BundleInfo): boolean {
  return state === 'started' || state === 'starting';
}

function isActive(bundle: BundleInfo): boolean {
  return isUp(bundle) || bundle.state === 'failed';
}

/** Longest wait for the stop functions of bundles. */
const STOP_MS = 30_000;
/** FXServer tells a stop by a line, any other program not at all. */
const UNTOLD_STOP_MS = { fxserver: 3000, command: 500 };
const LOOK_MS = 25;
/** FXServer is asked for its resources every five seconds. */
const FIRST_ANSWER_MS = 6000;

/** Stops and starts bundles of the running server through its console, and waits for what it reports. */
export class BundleDesk {
  readonly #options: BundleDeskOptions;

  constructor(options: BundleDeskOptions) {
    this.#options = options;
  }

  /** Why these bundles of the running server cannot be stopped and started again, in English; null if they can. */
  async whyNot(names: readonly string[], signal: AbortSignal): Promise<string | null> {
    const { bundles, settings } = this.#options;
    if (!bundles.canTell('start') || !bundles.canTell('stop'))
      return 'there is no command that stops or starts a bundle';
    if (settings.values.backend !== 'fxserver') return null;
    const hidden = await this.#unknownOf(names, signal);
    return hidden === null
      ? null
      : `the server does not tell whether ${hidden} runs; install it with the next start, or restart the server first`;
  }

  list(): Promise<BundleInfo[]> {
    return this.#options.bundles.list();
  }

  /** Bundles of these names that run or have failed, and all that run or have failed and depend on them: dependents first. */
  async activeWith(names: readonly string[]): Promise<ActiveBundle[]> {
    const all = await this.list();
    if (this.#options.settings.values.backend === 'command') {
      return all.filter(({ name }) => names.includes(name)).map(({ name }) => ({ name, isUp: true }));
    }
    const order: string[] = [];
    const visit = (name: string, path: ReadonlySet<string>) => {
      if (path.has(name) || order.includes(name)) return;
      const dependents = all.filter((bundle) => isActive(bundle) && bundle.dependencies.includes(name));
      for (const dependent of dependents) visit(dependent.name, new Set([...path, name]));
      if (all.some((bundle) => bundle.name === name && isActive(bundle))) order.push(name);
    };
    for (const name of names) visit(name, new Set());
    return order.map((name) => ({ name, isUp: all.some((bundle) => bundle.name === name && isUp(bundle)) }));
  }

  /** Waits until all are up. False if one has failed or the time is over. */
  async areUp(names: readonly string[], limitMs: number, signal: AbortSignal): Promise<boolean> {
    const endsAt = performance.now() + limitMs;
    while (performance.now() < endsAt) {
      const all = (await this.list()).filter(({ name }) => names.includes(name));
      if (all.some(({ state }) => state === 'failed')) return false;
      if (all.every((bundle) => bundle.state === 'started' || bundle.state === 'unknown')) return true;
      await delay(LOOK_MS, undefined, { signal });
    }
    return false;
  }

  /** In their order. Resolves when all have stopped. @throws Error if one does not stop in time */
  async stop(names: readonly string[], actor: string, signal: AbortSignal): Promise<void> {
    if (names.length === 0) return;
    const { bundles, settings, lines } = this.#options;
    const { backend } = settings.values;
    const watch = new LineWatch(lines, backend);
    const limitMs = backend === 'standalone' ? STOP_MS : UNTOLD_STOP_MS[backend === 'fxserver' ? backend : 'command'];
    const endsAt = performance.now() + limitMs;
    try {
      for (const name of names) bundles.tell(name, 'stop', actor);
      for (;;) {
        const open =
          backend === 'standalone' ? await this.#notStopped(names) : names.filter((name) => !watch.hasStopped(name));
        if (open.length === 0) return;
        if (performance.now() >= endsAt) {
          if (backend !== 'standalone') return;
          throw new Error(`${open.join(', ')} did not stop within ${limitMs / 1000} s`);
        }
        await delay(LOOK_MS, undefined, { signal });
      }
    } finally {
      watch.close();
    }
  }

  /** Sends the commands alone; a gate waits for the result. */
  start(names: readonly string[], actor: string): void {
    const { bundles, settings, sendCommand } = this.#options;
    // FXServer reads manifests at its start, and then at this command alone.
    if (settings.values.backend === 'fxserver' && names.length > 0) sendCommand('refresh', actor);
    for (const name of names) bundles.tell(name, 'start', actor);
  }

  /** A panel that found its server running has asked it only once this wait is over. */
  async #unknownOf(names: readonly string[], signal: AbortSignal): Promise<string | null> {
    const endsAt = performance.now() + FIRST_ANSWER_MS;
    for (;;) {
      const hidden = (await this.list()).find(({ name, state }) => names.includes(name) && state === 'unknown');
      if (hidden === undefined || performance.now() >= endsAt) return hidden?.name ?? null;
      await delay(LOOK_MS, undefined, { signal });
    }
  }

  async #notStopped(names: readonly string[]): Promise<string[]> {
    const all = await this.list();
    return all.filter(({ name, state }) => names.includes(name) && state !== 'stopped').map(({ name }) => name);
  }
}
