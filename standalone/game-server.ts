import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readAutostart } from './autostart-file.ts';
import type { Bundle } from './bundle.ts';
import { BundleList } from './bundle-list.ts';
import { CommandTable } from './command-table.ts';
import type { ConsoleLines } from './console-lines.ts';
import { ExportTable } from './export-table.ts';
import { describeError } from './failures.ts';
import { Lifecycle } from './lifecycle.ts';

/** All stop functions together, when the server itself stops: it has 15 s (contract section 9). */
const QUIT_LIMIT_MS = 12_000;

export interface GameServerOptions {
  /** Absolute path of the folder that holds `bundles/`. */
  readonly root: string;
  readonly vfs: string;
  readonly console: ConsoleLines;
  /** Called when a bundle has another state, and when bundles were read. */
  readonly onBundles?: () => void;
}

/** A server's bundles, as the console knows them: by name. */
export class GameServer {
  readonly commands = new CommandTable();
  readonly #console: ConsoleLines;
  readonly #bundles: BundleList;
  readonly #lifecycle: Lifecycle;
  readonly #onBundles: () => void;

  constructor({ root, vfs, console, onBundles = () => {} }: GameServerOptions) {
    this.#console = console;
    this.#onBundles = onBundles;
    this.#bundles = new BundleList(join(root, 'bundles'));
    this.#lifecycle = new Lifecycle(this.#bundles, {
      vfs,
      console,
      exports: new ExportTable(),
      commands: this.commands,
      listeners: new Map(),
      stateOf: (name) => this.#bundles.get(name)?.state ?? 'missing',
      onState: onBundles,
    });
  }

  /** By name. */
  get bundles(): readonly Bundle[] {
    return this.#bundles.all;
  }

  /** Looks which bundles there are now; starts and stops nothing. */
  reread(): void {
    try {
      this.#bundles.reread();
    } catch (error) {
      this.#console.say(`The bundles cannot be read: ${describeError(error)}`);
    }
    this.#onBundles();
  }

  /** Reads the folder and starts what starts by itself. Resolves when all of that is up or has failed. */
  async startAll(): Promise<void> {
    for (const line of this.#bundles.read()) this.#console.say(line);
    this.#onBundles();
    for (const bundle of this.bundles) {
      if (bundle.manifest === null) this.#console.say(`FAILED  ${bundle.name}: ${bundle.reason}`);
    }
    const { choices, problem } = readAutostart(this.#bundles.folder);
    if (problem !== '') this.#console.say(problem);
    const automatic = this.bundles.filter(
      ({ name, manifest }) => manifest !== null && (choices.get(name) ?? manifest.autostart),
    );
    await Promise.all(automatic.map((bundle) => this.#lifecycle.start(bundle)));
  }

  /** Starts a bundle, its dependencies first. Resolves with whether it is up; the console tells why if not. */
  async start(name: string): Promise<boolean> {
    const bundle = this.#bundles.find(name);
    if (bundle === undefined) {
      this.#console.say(`There is no bundle ${name} in ${this.#bundles.folder}`);
      return false;
    }
    if (bundle.state === 'started') {
      this.#console.say(`${name} is started already`);
      return true;
    }
    return this.#lifecycle.start(bundle);
  }

  /** Stops a bundle, and before it what depends on it. */
  async stop(name: string): Promise<void> {
    const bundle = this.#bundles.get(name);
    if (bundle === undefined) this.#console.say(`There is no bundle ${name}`);
    else if (bundle.state === 'stopped' && bundle.stopping === null) this.#console.say(`${name} is stopped already`);
    else {
      const hadFailed = bundle.state === 'failed';
      await this.#lifecycle.stop(bundle);
      if (hadFailed) this.#console.say(`${name} had failed; it counts as stopped now`);
    }
  }

  /** Bundles that depend on it stop as well, and stay stopped. */
  async restart(name: string): Promise<boolean> {
    const bundle = this.#bundles.get(name);
    if (bundle === undefined) return this.start(name);
    const others = this.bundles.filter((other) => other !== bundle && other.state === 'started');
    await this.#lifecycle.stop(bundle);
    const isUp = await this.#lifecycle.start(bundle);
    const gone = others.filter((other) => other.state === 'stopped').map((other) => other.name);
    if (gone.length > 0) this.#console.say(`Stopped with ${name}, and not started again: ${gone.join(', ')}`);
    return isUp;
  }

  /** Stops everything, what depends on others first. Resolves within 12 s, whatever the bundles do. */
  async stopAll(): Promise<void> {
    this.#lifecycle.endWithin(QUIT_LIMIT_MS);
    const all = Promise.all(this.bundles.map((bundle) => this.#lifecycle.stop(bundle)));
    await Promise.race([all, sleep(QUIT_LIMIT_MS, undefined, { ref: false })]);
  }
}
