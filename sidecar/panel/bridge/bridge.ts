import type { Log } from '#sidecar/log.ts';
import { PanelError } from '../panel-error.ts';
import type { PanelSettings, SettingValues } from '../settings/panel-settings.ts';
import type { BridgeStatus } from '../shapes/bridge.ts';
import type { PanelStore } from '../store/panel-store.ts';
import type { BridgeLine } from './bridge-line.ts';
import { BridgeListener } from './bridge-listener.ts';
import { type BridgeLog, keptText, MEGABYTE } from './bridge-log.ts';
import { BridgeTokens } from './bridge-tokens.ts';

const PEER_MS = 300_000;
const MOST_PEERS = 1000;

export interface BridgeOptions {
  readonly store: PanelStore;
  readonly settings: PanelSettings;
  /** Log that stores the lines. */
  readonly lines: BridgeLog;
  /** Address to listen on, which other machines must reach. */
  readonly host: string;
  readonly log: Log;
  readonly now: () => number;
  readonly monotonicNow: () => number;
}

type BridgeSettings = SettingValues['bridge'];

/** Takes and stores lines of other machines of the network, if it is enabled. */
export class Bridge {
  readonly tokens: BridgeTokens;
  readonly #options: BridgeOptions;
  readonly #peers = new Map<string, number>();
  #listener: BridgeListener | null = null;
  #problem: string | null = null;
  /** Port in use; differs from port 0 of the settings. */
  #port = 0;
  /** Applies changes of the settings one after another. */
  #changing: Promise<void> = Promise.resolve();

  constructor(options: BridgeOptions) {
    const { store, settings, now } = options;
    this.#options = options;
    this.tokens = new BridgeTokens(store, now);
    settings.onChange((values, before) => {
      if (values.bridge !== before.bridge) void this.apply();
    });
  }

  async status(): Promise<BridgeStatus> {
    const { enabled, port, retentionDays, maxMegabytes } = this.#options.settings.values.bridge;
    const since = this.#options.now() - PEER_MS;
    const bytes = (await this.#options.lines.folder.list()).reduce((sum, { size }) => sum + size, 0);
    return {
      enabled,
      port: this.#listener === null ? port : this.#port,
      listening: this.#listener !== null,
      problem: this.#problem,
      peers: [...this.#peers.values()].filter((time) => time > since).length,
      megabytes: Math.round((bytes / MEGABYTE) * 10) / 10,
      retentionDays,
      maxMegabytes,
    };
  }

  /** Changes any subset of the settings; resolves when they are applied. @throws PanelError `bridge.<field>` */
  async change(given: Readonly<Record<string, unknown>>): Promise<void> {
    const bridge = { ...this.#options.settings.values.bridge, ...checked(given) };
    this.#options.settings.update({ bridge });
    await this.#changing;
  }

  /** Starts or ends listening as the settings say. A failure is in the status, and once in the log. */
  apply(): Promise<void> {
    this.#changing = this.#changing.then(() => this.#apply());
    return this.#changing;
  }

  async close(): Promise<void> {
    await this.#changing;
    await this.#listener?.close();
    this.#listener = null;
  }

  async #apply(): Promise<void> {
    const { enabled, port } = this.#options.settings.values.bridge;
    await this.#listener?.close();
    this.#listener = null;
    this.#problem = null;
    if (enabled) await this.#listen(port);
  }

  async #listen(port: number): Promise<void> {
    const { host, log, monotonicNow } = this.#options;
    const keep = (lines: readonly BridgeLine[], address: string) => this.#keep(lines, address);
    const listener = new BridgeListener({ tokens: this.tokens, keep, monotonicNow });
    try {
      this.#port = await listener.listen(host, port);
      this.#listener = listener;
      log.info('listening', { service: 'bridge', address: `http://${host}:${this.#port}` });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const why = code === 'EADDRINUSE' ? 'the port is in use' : (code ?? 'the port cannot be opened');
      this.#problem = `${host}:${port}: ${why}`;
      log.error('the bridge does not listen; choose another port in the settings of the panel', { port, why });
    }
  }

  async #keep(lines: readonly BridgeLine[], address: string): Promise<void> {
    for (const line of lines) this.#options.lines.append(line.level, keptText(line));
    await this.#options.lines.drain();
    this.#peers.delete(address);
    this.#peers.set(address, this.#options.now());
    const oldest = this.#peers.keys().next();
    if (this.#peers.size > MOST_PEERS && oldest.done !== true) this.#peers.delete(oldest.value);
  }
}

const RANGES = {
  port: [0, 65_535],
  retentionDays: [1, 365],
  // All logs of the panel together take at most 1 GB.
  maxMegabytes: [1, 768],
} as const;

function checked(given: Readonly<Record<string, unknown>>): Partial<BridgeSettings> {
  for (const [field, value] of Object.entries(given)) {
    if (field === 'enabled') {
      if (typeof value !== 'boolean')
        throw new PanelError('bridge.enabled', { field, detail: 'expected true or false' });
    } else if (field === 'port' || field === 'retentionDays' || field === 'maxMegabytes') {
      const [least, most] = RANGES[field];
      if (!Number.isInteger(value) || (value as number) < least || (value as number) > most) {
        throw new PanelError(`bridge.${field}`, { field, detail: `expected a whole number from ${least} to ${most}` });
      }
    } else throw new PanelError('settings.unknown', { field });
  }
  return given as Partial<BridgeSettings>;
}
