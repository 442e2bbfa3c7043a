import { PERMISSIONS, type Permission } from '#panel/shapes/permissions.ts';
import type { RunningPanel } from '#panel/start-panel.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import { type ServeOptions, serve } from '#sidecar/serve.ts';
import { type ConfigChanges, writeConfig } from '#support/config-folder.ts';
import type { TestDatabase } from '#support/test-database.ts';
import { testFolder } from '#support/test-folder.ts';
import { EventReader } from './event-reader.ts';
import { PanelClient } from './panel-client.ts';
import { insertAccount, PASSWORD } from './quick-account.ts';

export { EventReader } from './event-reader.ts';
export { PanelClient } from './panel-client.ts';
export { PASSWORD } from './quick-account.ts';

export interface TestPanelOptions {
  /** Sections of sidecar.json. */
  readonly config?: ConfigChanges;
  /** Settings of the owner, written before the panel starts. */
  readonly settings?: NonNullable<NonNullable<ServeOptions['panel']>['preset']>;
  /** Program that has started this sidecar. */
  readonly start?: Pick<NonNullable<ServeOptions['panel']>, 'keeper' | 'isEmbedded'>;
  readonly now?: () => number;
  /** Default: `now`. */
  readonly monotonicNow?: () => number;
  /** A given database is dropped by the caller; default: a file of SQLite in the folder. */
  readonly database?: TestDatabase | null;
  /** A folder of an earlier panel. */
  readonly folder?: string;
}

export interface TestPanel {
  readonly folder: string;
  /** Address of the panel. */
  readonly address: string;
  readonly apiAddress: string;
  readonly panel: RunningPanel;
  readonly services: RunningPanel['services'];
  /** Lines of the log so far, as they were written. */
  readonly log: string[];
  /** A client without a session. */
  client(): PanelClient;
  /** Signed in with every permission; each call is a session of its own, of the one account `owner`. */
  owner(): Promise<PanelClient>;
  /** Makes the account, and signs in. */
  account(username: string, permissions: readonly Permission[]): Promise<PanelClient>;
  /** A stream of events, closed with the panel. */
  events(client: PanelClient, query?: string, headers?: Readonly<Record<string, string>>): Promise<EventReader>;
  stop(): Promise<void>;
}

/** A whole sidecar with its panel in this process: real HTTP on free ports, real files. */
export async function startTestPanel(options: TestPanelOptions = {}): Promise<TestPanel> {
  const folder = options.folder ?? testFolder();
  const { panel: section, ...config } = options.config ?? {};
  const changes = { ...config, panel: { enabled: true, port: 0, ...(section as object | undefined) } };
  const file = writeConfig(folder, changes, options.database?.settings);
  const log: string[] = [];
  const running = await serve({
    config: loadConfig(file, {}),
    log: { write: (line) => void log.push(line) },
    ...(options.now === undefined ? {} : { now: options.now }),
    ...(options.monotonicNow === undefined ? {} : { monotonicNow: options.monotonicNow }),
    panel: { ...options.start, ...(options.settings === undefined ? {} : { preset: options.settings }) },
  });
  const panel = running.panel as RunningPanel;
  const { services, address } = panel;
  const { accounts, store } = services;
  const streams: EventReader[] = [];
  const client = () => new PanelClient(address);
  const signedIn = async (username: string) => {
    const browser = client();
    const { status, text } = await browser.login(username, PASSWORD);
    if (status !== 200) throw new Error(`cannot sign in as ${username}: ${status} ${text}`);
    return browser;
  };
  const makeOwner = () => {
    if (accounts.isEmpty) insertAccount(store, 'owner', PERMISSIONS);
  };
  const stop = async () => {
    for (const stream of streams) stream.close();
    await running.stop();
  };
  return {
    ...{ folder, address, apiAddress: running.address, panel, services, log, client, stop },
    async owner() {
      makeOwner();
      return signedIn('owner');
    },
    async account(username, permissions) {
      makeOwner();
      insertAccount(store, username, permissions);
      return signedIn(username);
    },
    async events(browser, query, headers) {
      const stream = new EventReader();
      streams.push(stream);
      return stream.open(browser, query, headers);
    },
  };
}
