import type { ToolSettings } from '../shapes/bundle-tools.ts';
import type { Locale } from '../shapes/locales.ts';
import type { Backend } from '../shapes/server.ts';
import type { ServerChange } from '../shapes/server-updates.ts';
import type { ConfigValues, SettingsDocument } from '../shapes/settings.ts';
import type { PanelStore } from '../store/panel-store.ts';

/** Settings of the owner, beside sidecar.json. Stored in `panel.sqlite`; each caller of `update` validates them first. */
export interface SettingValues extends ConfigValues, Omit<SettingsDocument, 'locale'> {
  /** Language from the setup: default of every account, and of the sign-in page. */
  readonly locale: Locale;
  readonly backend: Backend;
  /** Working folder of the server, absolute; empty if not set. */
  readonly serverRoot: string;
  readonly tools: ToolSettings;
  /** Version of the game server below `server-updates/versions`, for `{server}` in the start line. */
  readonly serverVersion: {
    readonly current: string | null;
    readonly pending: string | null;
    readonly previous: string | null;
    readonly isOnTrial: boolean;
    readonly last: ServerChange | null;
  };
  readonly bridge: {
    readonly enabled: boolean;
    readonly port: number;
    readonly retentionDays: number;
    readonly maxMegabytes: number;
  };
}

export const DEFAULT_SETTINGS: SettingValues = {
  dashboardName: 'Game server',
  locale: 'en',
  backend: 'none',
  serverRoot: '',
  startLine: '',
  stopLine: '',
  bundleStartLine: '',
  bundleStopLine: '',
  bundleRestartLine: '',
  bundles: [],
  stopWaitSeconds: 20,
  killWaitSeconds: 10,
  shutdownMode: 'graceful',
  autoStartServer: false,
  restartHungServer: false,
  hangSeconds: 60,
  hangCommand: '',
  autoUpdateChecks: false,
  updateChannel: 'stable',
  bundleTools: false,
  warnMinutes: [30, 15, 10, 5, 3, 1],
  warnLine: 'say {text}',
  warnEvents: true,
  secondFactorFor: [],
  tools: {
    ...{ gateSeconds: 30, keepVersions: 3, trashDays: 14, buildMinutes: 10, minReleaseAgeDays: 3 },
    ...{ registry: '', gitHosts: ['github.com', 'gitlab.com', 'codeberg.org'], privateHosts: [] },
  },
  serverVersion: { current: null, pending: null, previous: null, isOnTrial: false, last: null },
  bridge: { enabled: false, port: 20773, retentionDays: 14, maxMegabytes: 256 },
};

type Listener = (now: SettingValues, before: SettingValues) => void;

export class PanelSettings {
  readonly #store: PanelStore;
  readonly #listeners = new Set<Listener>();
  /** Presets of this start, whether or not the owner has set these values. */
  readonly preset: Partial<SettingValues>;
  #values: SettingValues;

  /** @param preset values of this start for settings that the owner has not set, such as the backend of `npm start` */
  constructor(store: PanelStore, preset: Partial<SettingValues> = {}) {
    this.#store = store;
    this.preset = preset;
    const rows = store.prepare('SELECT name, value FROM settings').all() as { name: string; value: string }[];
    const kept = Object.fromEntries(rows.map(({ name, value }) => [name, JSON.parse(value)]));
    this.#values = Object.freeze({ ...DEFAULT_SETTINGS, ...preset, ...kept });
  }

  get values(): SettingValues {
    return this.#values;
  }

  /** Writes all changes in one transaction, then calls the listeners. */
  update(changes: Partial<SettingValues>): void {
    const write = this.#store.prepare('INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)');
    this.#store.transaction(() => {
      for (const [name, value] of Object.entries(changes)) write.run(name, JSON.stringify(value));
    })();
    const before = this.#values;
    this.#values = Object.freeze({ ...before, ...changes });
    for (const listener of this.#listeners) listener(this.#values, before);
  }

  onChange(listener: Listener): void {
    this.#listeners.add(listener);
  }
}
