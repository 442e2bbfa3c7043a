import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { PanelSettings } from '#panel/settings/panel-settings.ts';
import { PERMISSIONS } from '#panel/shapes/permissions.ts';
import { openPanelStore, type PanelStore } from '#panel/store/panel-store.ts';
import { writeConfig } from '#support/config-folder.ts';
import { type Preload, withPreload } from '#support/preloads.ts';
import { SIDECAR_MAIN } from '#support/sidecar-program.ts';
import { PASSWORD, PanelClient } from '../panel/support/panel.ts';
import { insertAccount } from '../panel/support/quick-account.ts';

interface KilledPanelChanges {
  /** Beside `enabled` and `port`. */
  readonly panel?: object;
  readonly more?: (store: PanelStore) => void;
}

/** Files of a sidecar whose panel has the account `owner` and the bundle tools on. */
export function prepareKilledPanel(
  folder: string,
  serverRoot: string,
  { panel = {}, more = () => {} }: KilledPanelChanges = {},
): void {
  writeConfig(folder, { panel: { enabled: true, port: 0, ...panel } });
  const store = openPanelStore(join(folder, 'data/panel.sqlite'));
  insertAccount(store, 'owner', PERMISSIONS);
  const settings = new PanelSettings(store);
  settings.update({ backend: 'standalone', serverRoot, bundleTools: true });
  settings.update({ tools: { ...settings.values.tools, gateSeconds: 1 } });
  more(store);
  store.close();
}

export interface KilledPanel {
  readonly child: ChildProcess;
  /** Signed in as `owner`. */
  readonly client: PanelClient;
  stop(): Promise<void>;
}

/** Starts the sidecar as a process, with a killer in it that waits for the file `kill` of the folder. */
export async function startKilledPanel(
  folder: string,
  killer?: Preload,
  /** A command that becomes the process. */
  wrapper: readonly string[] = [],
): Promise<KilledPanel> {
  const loaded = killer === undefined ? {} : { NODE_OPTIONS: withPreload(killer) };
  const env = { ...process.env, ...loaded, KILL_FILE: join(folder, 'kill') };
  const argv = [...wrapper, process.execPath, SIDECAR_MAIN, '--config', join(folder, 'sidecar.json')];
  const child = spawn(argv[0] ?? '', argv.slice(1), {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  const address = () => /"service":"panel","address":"([^"]+)"/.exec(text)?.[1];
  try {
    await vi.waitFor(() => expect(address()).toBeDefined(), { timeout: 60_000, interval: 20 });
    const client = new PanelClient(address() ?? '');
    await client.login('owner', PASSWORD);
    return { child, client, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
