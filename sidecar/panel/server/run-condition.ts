import type { PanelSettings } from '../settings/panel-settings.ts';
import type { BundleInfo } from '../shapes/bundles.ts';
import type { Health } from './process/backends/backend.ts';

export interface RunConditionOptions {
  readonly settings: PanelSettings;
  readonly now: () => number;
  readonly say: (text: string) => void;
  readonly onChange: () => void;
  /** Once for each time that it hangs, where the owner wants it to be restarted then. */
  readonly onRestartDue: () => void;
  /** Bundles, or the resources of `health`, are others. */
  readonly onBundles: () => void;
}

/** How a running server is doing, as far as it tells: whether it is up, whether it hangs, what runs in it. */
export class RunCondition {
  isUp = false;
  hungSince: string | null = null;
  health: Health | null = null;
  bundles: readonly BundleInfo[] | null = null;
  readonly #options: RunConditionOptions;

  constructor(options: RunConditionOptions) {
    this.#options = options;
  }

  comeUp(): void {
    if (this.isUp) return;
    this.isUp = true;
    this.#options.onChange();
  }

  takeBundles(bundles: readonly BundleInfo[]): void {
    this.bundles = bundles;
    this.#options.onBundles();
  }

  takeHealth(health: Health): void {
    const before = this.health?.resources?.join() ?? '';
    this.health = health;
    if ((health.resources?.join() ?? '') !== before) this.#options.onBundles();
  }

  /** @param silentMs how long it has given no sign of life */
  hang(silentMs: number): void {
    const { now, say, settings, onChange, onRestartDue } = this.#options;
    this.hungSince = new Date(now() - silentMs).toISOString();
    say(`The server is frozen: no output and no answer for ${Math.round(silentMs / 1000)} s`);
    if (settings.values.restartHungServer) onRestartDue();
    onChange();
  }

  recover(): void {
    const { say, onChange } = this.#options;
    this.hungSince = null;
    say('The server answers again');
    onChange();
  }
}
