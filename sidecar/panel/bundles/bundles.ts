import { PanelError } from '../panel-error.ts';
import type { PanelSettings, SettingValues } from '../settings/panel-settings.ts';
import type { BundleInfo } from '../shapes/bundles.ts';
import { byName } from '../shapes/by-name.ts';
import { type BundleManifest, bare, readBundleFolder } from './bundle-manifests.ts';
import type { BundleMarks } from './bundle-marks.ts';
import { readFxResources } from './fx-resources.ts';

export const BUNDLE_ACTIONS = ['start', 'stop', 'restart'] as const;
export type BundleAction = (typeof BUNDLE_ACTIONS)[number];

/** The server control, as bundles use it. */
export interface BundleServer {
  status(): { readonly state: string };
  /** Bundles that the running server reports; null: none reported. */
  bundles(): readonly BundleInfo[] | null;
  health(): { readonly resources: readonly string[] | null } | null;
  onBundles(listener: () => void): void;
  onStatus(listener: () => void): void;
  sendCommand(text: string, actor: string): void;
}

export interface BundlesOptions {
  readonly server: BundleServer;
  readonly settings: PanelSettings;
  /** Tags and autostart of the owner, above the manifests. Without them the manifests hold. */
  readonly marks?: BundleMarks;
}

/** Time in which changes are gathered into one report. */
const GATHER_MS = 100;

/** Bundles of any kind of server: from its folders, with the state of the running ones. */
export class Bundles {
  readonly #server: BundleServer;
  readonly #settings: PanelSettings;
  readonly #marks: BundleMarks | null;
  readonly #listeners = new Set<(bundles: readonly BundleInfo[]) => void>();
  #gathering: NodeJS.Timeout | null = null;
  #told = '';

  constructor({ server, settings, marks }: BundlesOptions) {
    this.#server = server;
    this.#marks = marks ?? null;
    this.#settings = settings;
    server.onBundles(() => this.#changed());
    server.onStatus(() => this.#changed());
    settings.onChange(() => this.#changed());
  }

  /** Sorted by name. */
  async list(): Promise<BundleInfo[]> {
    const bundles = await this.declared();
    return this.#marks === null ? bundles : this.#marks.apply(bundles);
  }

  /**
   * Looked up in the list, never joined to a path.
   *
   * @returns the bundle without marks of the owner
   * @throws PanelError `bundleTools.unknown`
   */
  async find(name: unknown): Promise<BundleInfo> {
    const known = (await this.declared()).find((bundle) => bundle.name === name);
    if (known === undefined) throw new PanelError('bundleTools.unknown', { field: 'name' });
    return known;
  }

  /** The bundles without marks of the owner, sorted by name. */
  async declared(): Promise<BundleInfo[]> {
    const running = this.#server.bundles();
    if (running !== null) return running.toSorted(byName);
    const { backend, serverRoot, bundles } = this.#settings.values;
    const stopped = 'stopped' as const;
    const unknown = 'unknown' as const;
    if (backend === 'standalone')
      return (await readBundleFolder(serverRoot)).map((one) => ({ ...one, state: stopped })).sort(byName);
    if (backend === 'fxserver') return this.#withStates(await readFxResources(serverRoot));
    if (backend === 'command') return bundles.map((name) => ({ ...bare(name), state: unknown })).sort(byName);
    return [];
  }

  /** Called after marks, or folders of a server that does not run, have changed. */
  refresh(): void {
    this.#changed();
  }

  /** Called after a change with the whole list. */
  onChange(listener: (bundles: readonly BundleInfo[]) => void): void {
    this.#listeners.add(listener);
  }

  /**
   * Types the command that starts, stops or restarts a bundle; the console and the next list show the result.
   *
   * @param name looked up in the list, never put into a command unchecked
   * @throws PanelError `bundles.unknown`, `bundles.unavailable`, and those of a command
   */
  async act(name: string, action: BundleAction, actor: string): Promise<void> {
    const known = (await this.list()).find((bundle) => bundle.name === name);
    if (known === undefined) throw new PanelError('bundles.unknown', { field: 'name' });
    this.tell(name, action, actor);
  }

  /** Whether there is a command for the action. */
  canTell(action: BundleAction): boolean {
    return lineOf(this.#settings.values, action) !== '';
  }

  /**
   * As `act`, for a bundle that the caller has found: the server may not list a new one yet.
   *
   * @throws PanelError `bundles.unavailable`, and those of a command
   */
  tell(name: string, action: BundleAction, actor: string): void {
    const line = lineOf(this.#settings.values, action);
    // A name that the server would read as another command never reaches its console.
    if (line === '' || !/^[A-Za-z0-9_.[\]-]{1,100}$/.test(name)) throw new PanelError('bundles.unavailable');
    this.#server.sendCommand(line.replaceAll('{name}', name), actor);
  }

  #withStates(resources: readonly BundleManifest[]): BundleInfo[] {
    const { state } = this.#server.status();
    const started = this.#server.health()?.resources ?? null;
    const isDown = state === 'stopped' || state === 'crashed';
    return resources.map((resource) => {
      if (isDown) return { ...resource, state: 'stopped' };
      if (started === null) return { ...resource, state: 'unknown' };
      return { ...resource, state: started.includes(resource.name) ? 'started' : 'stopped' };
    });
  }

  #changed(): void {
    this.#gathering ??= setTimeout(() => {
      this.#gathering = null;
      void this.#tell();
    }, GATHER_MS).unref();
  }

  async #tell(): Promise<void> {
    if (this.#listeners.size === 0) return;
    const bundles = await this.list();
    const text = JSON.stringify(bundles);
    if (text === this.#told) return;
    this.#told = text;
    for (const listener of this.#listeners) listener(bundles);
  }
}

/** Standalone and fxserver have known commands; for any other program the owner sets them. */
function lineOf(values: SettingValues, action: BundleAction): string {
  const { bundleStartLine, bundleStopLine, bundleRestartLine, backend } = values;
  const given = { start: bundleStartLine, stop: bundleStopLine, restart: bundleRestartLine }[action];
  if (given !== '') return given;
  return backend === 'standalone' || backend === 'fxserver' ? `${action} {name}` : '';
}
