import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bundle, Run } from './bundle.ts';
import { readBundleFolders, refreshManifest } from './bundle-folders.ts';
import { createHost, type Services } from './bundle-host.ts';
import { CommandTable } from './command-table.ts';
import type { ConsoleLines } from './console-lines.ts';
import { findRing, runningDependents } from './dependencies.ts';
import { endRun } from './end-run.ts';
import { ExportTable } from './export-table.ts';
import { describeError, StartError } from './failures.ts';
import type { BundleState } from './host.ts';
import { ModuleLoader } from './module-loader.ts';

/** How long a stop function may take. */
const STOP_LIMIT_MS = 5000;
/** All of them together, when the server itself stops: it has 15 s (contract section 9). */
const QUIT_LIMIT_MS = 12_000;
/** A start that takes longer is told; it goes on. */
const SLOW_START_MS = 10_000;

export interface GameServerOptions {
  /** Absolute path of the folder that holds `bundles/`. */
  readonly root: string;
  readonly vfs: string;
  readonly console: ConsoleLines;
}

/** The bundles of a server: their starts and stops, in the order of their dependencies. */
export class GameServer {
  readonly commands = new CommandTable();
  readonly #folder: string;
  readonly #console: ConsoleLines;
  readonly #bundles = new Map<string, Bundle>();
  readonly #services: Services;
  readonly #loader = new ModuleLoader();
  /** In `performance.now()`; set when the server stops. */
  #endsAt: number | null = null;

  constructor({ root, vfs, console }: GameServerOptions) {
    this.#folder = join(root, 'bundles');
    this.#console = console;
    this.#services = {
      vfs,
      console,
      exports: new ExportTable(),
      commands: this.commands,
      listeners: new Map(),
      stateOf: (name) => this.#bundles.get(name)?.state ?? 'missing',
    };
  }

  /** By name. */
  get bundles(): readonly Bundle[] {
    return [...this.#bundles.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Reads the folder and starts what starts by itself. Resolves when all of that is up or has failed. */
  async startAll(): Promise<void> {
    this.#readFolder((line) => this.#console.say(line));
    for (const bundle of this.bundles) {
      if (bundle.manifest === null) this.#console.say(`FAILED  ${bundle.name}: ${bundle.reason}`);
    }
    const automatic = this.bundles.filter((bundle) => bundle.manifest?.autostart === true);
    await Promise.all(automatic.map((bundle) => this.#start(bundle)));
  }

  /** Starts a bundle, its dependencies first. Resolves with whether it is up; the console tells why if not. */
  async start(name: string): Promise<boolean> {
    const bundle = this.#find(name);
    if (bundle === undefined) {
      this.#console.say(`There is no bundle ${name} in ${this.#folder}`);
      return false;
    }
    if (bundle.state === 'started') {
      this.#console.say(`${name} is started already`);
      return true;
    }
    return this.#start(bundle);
  }

  /** Stops a bundle, and before it what depends on it. */
  async stop(name: string): Promise<void> {
    const bundle = this.#bundles.get(name);
    if (bundle === undefined) this.#console.say(`There is no bundle ${name}`);
    else if (bundle.state === 'stopped' && bundle.stopping === null) this.#console.say(`${name} is stopped already`);
    else await this.#stop(bundle);
  }

  /** What depends on the bundle stops as well, and stays so. */
  async restart(name: string): Promise<boolean> {
    const bundle = this.#bundles.get(name);
    if (bundle === undefined) return this.start(name);
    const others = this.bundles.filter((other) => other !== bundle && other.state === 'started');
    await this.#stop(bundle);
    const isUp = await this.#start(bundle);
    const gone = others.filter((other) => other.state === 'stopped').map((other) => other.name);
    if (gone.length > 0) this.#console.say(`Stopped with ${name}, and not started again: ${gone.join(', ')}`);
    return isUp;
  }

  /** Stops everything, what depends on others first. Resolves within 12 s, whatever the bundles do. */
  async stopAll(): Promise<void> {
    this.#endsAt = performance.now() + QUIT_LIMIT_MS;
    const all = Promise.all(this.bundles.map((bundle) => this.#stop(bundle)));
    await Promise.race([all, sleep(QUIT_LIMIT_MS, undefined, { ref: false })]);
  }

  #readFolder(tellIgnored: (line: string) => void): void {
    const { bundles, ignored } = readBundleFolders(this.#folder);
    for (const line of ignored) tellIgnored(line);
    for (const bundle of bundles) {
      if (!this.#bundles.has(bundle.name)) this.#bundles.set(bundle.name, bundle);
    }
  }

  /** A bundle that was put there while the server runs is found too. */
  #find(name: string): Bundle | undefined {
    if (!this.#bundles.has(name)) this.#readFolder(() => {});
    return this.#bundles.get(name);
  }

  async #start(bundle: Bundle): Promise<boolean> {
    await bundle.stopping;
    if (bundle.state === 'started' || this.#endsAt !== null) return bundle.state === 'started';
    if (bundle.starting !== null) return bundle.starting;
    const run: Run = { isOver: false, isRetired: false, stop: undefined };
    bundle.run = run;
    bundle.starts += 1;
    const slow = setInterval(() => this.#console.say(`${bundle.name} is still starting`), SLOW_START_MS);
    slow.unref();
    const starting = this.#bringUp(bundle, run).finally(() => {
      clearInterval(slow);
      if (bundle.starting === starting) bundle.starting = null;
    });
    bundle.starting = starting;
    return starting;
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
    this.#console.say(
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
      const dependency = this.#find(name);
      if (dependency === undefined) throw new StartError(`it needs the bundle ${name}, which is not there`);
      return dependency;
    });
    const areUp = await Promise.all(needed.map((dependency) => this.#start(dependency)));
    const missing = needed.find((_dependency, index) => !areUp[index]);
    if (missing !== undefined) throw new StartError(`it needs the bundle ${missing.name}, which is ${missing.state}`);
  }

  async #runScript(bundle: Bundle, run: Run): Promise<Run['stop']> {
    const start = await this.#loader.load(bundle, bundle.manifest?.server ?? '');
    if (run.isOver) return undefined;
    const stop = await start(createHost(bundle, run, this.#services));
    if (stop === undefined || stop === null) return undefined;
    if (typeof stop !== 'function')
      throw new StartError(`its start gave ${typeof stop}, expected a function or nothing`);
    return stop as () => unknown;
  }

  #fail(bundle: Bundle, run: Run, error: unknown): void {
    const wasStopped = run.isOver;
    run.isRetired = true;
    const reason = error instanceof StartError ? error.message : describeError(error);
    if (wasStopped) {
      this.#console.say(`${bundle.name} was stopped while it started, and threw: ${reason}`);
      return;
    }
    this.#withdraw(bundle, run);
    bundle.reason = reason.split('\n', 1)[0] ?? '';
    this.#console.say(`FAILED  ${bundle.name}: ${reason}`);
    this.#setState(bundle, 'failed');
  }

  async #stop(bundle: Bundle): Promise<void> {
    bundle.stopping ??= this.#bringDown(bundle).finally(() => {
      bundle.stopping = null;
    });
    return bundle.stopping;
  }

  async #bringDown(bundle: Bundle): Promise<void> {
    await Promise.all(runningDependents(bundle, this.#bundles).map((dependent) => this.#stop(dependent)));
    const { run } = bundle;
    const { state } = bundle;
    if (run !== null) this.#withdraw(bundle, run);
    bundle.starting = null;
    bundle.reason = '';
    if (state !== 'stopped') this.#setState(bundle, 'stopped');
    if (run !== null && state === 'started') await this.#runStop(bundle, run);
    if (state === 'started' || state === 'starting') this.#console.say(`stopped ${bundle.name}`);
  }

  /** Its last calls to other bundles still go through; it is waited for, within limits. */
  async #runStop(bundle: Bundle, run: Run): Promise<void> {
    const limitMs = this.#stopLimitMs();
    const trouble = await endRun(run, limitMs);
    run.isRetired = true;
    if (trouble !== '') this.#console.say(`${bundle.name}: its stop function ${trouble}`);
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
    this.commands.withdraw(bundle.name);
  }

  /** A bundle still hears of its own end. */
  #setState(bundle: Bundle, state: BundleState): void {
    bundle.state = state;
    for (const [listener, tells] of [...this.#services.listeners]) {
      for (const tell of tells) {
        try {
          tell({ bundle: bundle.name, state });
        } catch (error) {
          this.#console.ofBundle(listener.name, `a listener of "bundle" threw: ${describeError(error)}`);
        }
      }
    }
    if (state === 'stopped' || state === 'failed') this.#services.listeners.delete(bundle);
  }
}
