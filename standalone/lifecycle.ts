import type { Bundle, Run } from './bundle.ts';
import { refreshManifest } from './bundle-folders.ts';
import { createHost, type Services } from './bundle-host.ts';
import { type BundleList, findRing, runningDependents } from './bundle-list.ts';
import { describeError, StartError } from './failures.ts';
import type { BundleState } from './host.ts';
import { ModuleLoader } from './module-loader.ts';

/** How long a stop function may take. */
const STOP_LIMIT_MS = 5000;
/** A start that takes longer is told; it goes on. */
const SLOW_START_MS = 10_000;

/** How a bundle comes up and goes down, with what it depends on and what depends on it. */
export class Lifecycle {
  readonly #bundles: BundleList;
  readonly #services: Services;
  readonly #loader = new ModuleLoader();
  /** In `performance.now()`; set when the server stops. */
  #endsAt: number | null = null;

  constructor(bundles: BundleList, services: Services) {
    this.#bundles = bundles;
    this.#services = services;
  }

  /** From now on nothing starts, and all stops together have this long. */
  endWithin(limitMs: number): void {
    this.#endsAt = performance.now() + limitMs;
  }

  /** Resolves with whether the bundle is up, after its dependencies. A start that is under way is joined. */
  async start(bundle: Bundle): Promise<boolean> {
    await bundle.stopping;
    if (bundle.state === 'started' || this.#endsAt !== null) return bundle.state === 'started';
    if (bundle.starting !== null) return bundle.starting;
    const run: Run = { isOver: false, isRetired: false, stop: undefined };
    bundle.run = run;
    bundle.starts += 1;
    const slow = setInterval(() => this.#services.console.say(`${bundle.name} is still starting`), SLOW_START_MS);
    slow.unref();
    const starting = this.#bringUp(bundle, run).finally(() => {
      clearInterval(slow);
      if (bundle.starting === starting) bundle.starting = null;
    });
    bundle.starting = starting;
    return starting;
  }

  /** Stops what depends on the bundle first. Resolves when its stop function has ended, or was given up. */
  async stop(bundle: Bundle): Promise<void> {
    bundle.stopping ??= this.#bringDown(bundle).finally(() => {
      bundle.stopping = null;
    });
    return bundle.stopping;
  }

  /** Resolves with whether the bundle is up. A stop in the meantime makes the run be over. */
  async #bringUp(bundle: Bundle, run: Run): Promise<boolean> {
    const began = performance.now();
    try {
      refreshManifest(bundle);
      this.#setState(bundle, 'starting');
      await this.#startDependencies(bundle);
      if (run.isOver) return false;
      run.stop = await this.#runScript(bundle, run);
    } catch (error) {
      this.#fail(bundle, run, error);
      return false;
    }
    if (run.isOver) {
      await this.#runStop(bundle, run);
      return false;
    }
    this.#services.console.say(
      `started ${bundle.name} ${bundle.manifest?.version} (${Math.round(performance.now() - began)} ms)`,
    );
    this.#setState(bundle, 'started');
    return true;
  }

  async #startDependencies(bundle: Bundle): Promise<void> {
    if (bundle.manifest === null) throw new StartError(bundle.reason);
    const ring = findRing(bundle, this.#bundles);
    if (ring !== null) throw new StartError(`it stands in a ring of dependencies: ${ring}`);
    const needed = bundle.manifest.dependencies.map((name) => {
      const dependency = this.#bundles.find(name);
      if (dependency === undefined) throw new StartError(`it needs the bundle ${name}, which is not there`);
      return dependency;
    });
    const areUp = await Promise.all(needed.map((dependency) => this.start(dependency)));
    const missing = needed.find((_dependency, index) => !areUp[index]);
    if (missing !== undefined) throw new StartError(`it needs the bundle ${missing.name}, which is ${missing.state}`);
  }

  async #runScript(bundle: Bundle, run: Run): Promise<Run['stop']> {
    const start = await this.#loader.load(bundle, bundle.manifest?.server ?? '');
    if (run.isOver) return undefined;
    const stop = await start(createHost(bundle, run, this.#services));
    if (stop === undefined || stop === null) return undefined;
    if (typeof stop !== 'function') throw new StartError(`its start gave a ${typeof stop}, expected a function`);
    return stop as () => unknown;
  }

  #fail(bundle: Bundle, run: Run, error: unknown): void {
    const wasStopped = run.isOver;
    run.isRetired = true;
    const reason = error instanceof StartError ? error.message : describeError(error);
    if (wasStopped) {
      this.#services.console.say(`${bundle.name} was stopped while it started, and threw: ${reason}`);
      return;
    }
    this.#withdraw(bundle, run);
    bundle.reason = reason.split('\n', 1)[0] ?? '';
    this.#services.console.say(`FAILED  ${bundle.name}: ${reason}`);
    this.#setState(bundle, 'failed');
  }

  async #bringDown(bundle: Bundle): Promise<void> {
    await Promise.all(runningDependents(bundle, this.#bundles.all).map((dependent) => this.stop(dependent)));
    const { run, state } = bundle;
    if (run !== null) this.#withdraw(bundle, run);
    bundle.starting = null;
    bundle.reason = '';
    if (state !== 'stopped') this.#setState(bundle, 'stopped');
    if (run !== null && state === 'started') await this.#runStop(bundle, run);
    if (state === 'started' || state === 'starting') this.#services.console.say(`stopped ${bundle.name}`);
  }

  /** Its last calls to other bundles still go through; it is waited for, within limits. */
  async #runStop(bundle: Bundle, run: Run): Promise<void> {
    const limitMs = this.#stopLimitMs();
    const trouble = await endRun(run, limitMs);
    run.isRetired = true;
    if (trouble !== '') this.#services.console.say(`${bundle.name}: its stop function ${trouble}`);
  }

  /** When the server stops, each level of dependencies gets half of what is left, so that all have some. */
  #stopLimitMs(): number {
    if (this.#endsAt === null) return STOP_LIMIT_MS;
    return Math.min(STOP_LIMIT_MS, Math.max(0, this.#endsAt - performance.now()) / 2);
  }

  #withdraw(bundle: Bundle, run: Run): void {
    run.isOver = true;
    bundle.run = null;
    this.#services.exports.withdraw(bundle.name);
    this.#services.commands.withdraw(bundle.name);
  }

  /** A bundle still hears of its own end. */
  #setState(bundle: Bundle, state: BundleState): void {
    bundle.state = state;
    this.#services.onState();
    for (const [listener, tells] of [...this.#services.listeners]) {
      for (const tell of tells) {
        try {
          tell({ bundle: bundle.name, state });
        } catch (error) {
          this.#services.console.ofBundle(listener.name, `a listener of "bundle" threw: ${describeError(error)}`);
        }
      }
    }
    if (state === 'stopped' || state === 'failed') this.#services.listeners.delete(bundle);
  }
}

/** Calls a bundle's stop function and waits for it. Resolves, at the latest at the limit, with what went wrong, if anything. */
async function endRun(run: Run, limitMs: number): Promise<string> {
  const ended = Promise.withResolvers<string>();
  const timer = setTimeout(() => ended.resolve(`did not end within ${(limitMs / 1000).toFixed(1)} s`), limitMs);
  callStop(run).then(
    () => ended.resolve(''),
    (error: unknown) => ended.resolve(`threw: ${describeError(error)}`),
  );
  const trouble = await ended.promise;
  clearTimeout(timer);
  return trouble;
}

/** A synchronous throw of the stop function rejects as well. */
async function callStop(run: Run): Promise<void> {
  await run.stop?.();
}
