import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AccountStore } from '#panel/accounts/account-store.ts';
import { Accounts } from '#panel/accounts/accounts.ts';
import { PasswordHasher } from '#panel/accounts/password-hasher.ts';
import { Sessions } from '#panel/accounts/sessions.ts';
import { PanelSettings, type SettingValues } from '#panel/settings/panel-settings.ts';
import { PERMISSIONS } from '#panel/shapes/permissions.ts';
import { openPanelStore } from '#panel/store/panel-store.ts';
import { PanelClient } from '#test/panel/support/panel-client.ts';
import { makeFolder } from '../prepare.ts';
import { type Running, start } from '../processes.ts';

const PASSWORD = 'correct horse battery staple';
const FLOODING = fileURLToPath(new URL('flooding-server.ts', import.meta.url));

export interface BenchPanel {
  readonly sidecar: Running;
  readonly folder: string;
  /** Address of the panel. */
  readonly address: string;
  readonly apiPort: number;
  /** Secret of the API's key `local`. */
  readonly secret: string;
  /** Start line of a game server that says so many lines a second. */
  startLine(linesPerSecond: number): string;
  /** Signed in; each call is a session of its own. */
  signIn(): Promise<PanelClient>;
  stop(): Promise<void>;
}

const startLine = (lines: number) => `"${process.execPath}" "${FLOODING}" ${lines}`;

/** A sidecar as a process of its own, whose panel runs a game server that says so many lines a second. */
export function startBenchPanel(linesPerSecond: number): Promise<BenchPanel> {
  return startPanelWith({ backend: 'command', startLine: startLine(linesPerSecond) });
}

/** A sidecar as a process of its own, with an owner; the game server lies in `server/` of its folder. */
export async function startPanelWith(settings: Partial<SettingValues>): Promise<BenchPanel> {
  const { folder, secret } = makeFolder();
  const file = join(folder, 'sidecar.json');
  const config = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  writeFileSync(file, JSON.stringify({ ...config, panel: { port: 0 } }));
  await prepareStore(folder, settings);
  const sidecar = start(['sidecar/main.ts', '--config', file], join(folder, 'sidecar.log'));
  const address = await sidecar.until((line) => /"service":"panel","address":"([^"]+)"/.exec(line)?.[1] ?? null);
  const api = await sidecar.until((line) => /"service":"api","address":"([^"]+)"/.exec(line)?.[1] ?? null);
  return {
    ...{ sidecar, folder, address, secret, startLine, apiPort: Number(new URL(api).port) },
    async signIn() {
      const client = new PanelClient(address);
      const { status } = await client.login('owner', PASSWORD);
      if (status !== 200) throw new Error(`cannot sign in: ${status}`);
      return client;
    },
    async stop() {
      await sidecar.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function prepareStore(folder: string, settings: Partial<SettingValues>): Promise<void> {
  const serverRoot = join(folder, 'server');
  mkdirSync(serverRoot);
  const store = openPanelStore(join(folder, 'data/panel.sqlite'));
  const sessions = new Sessions(store, Date.now, (work) => work());
  const accounts = new Accounts({
    store: new AccountStore(store),
    hasher: new PasswordHasher(),
    waysIn: [sessions],
    factors: { accountIds: () => new Set() },
  });
  await accounts.createFirst({ username: 'owner', password: PASSWORD, permissions: PERMISSIONS });
  new PanelSettings(store).update({ serverRoot, ...settings });
  sessions.close();
  store.close();
}
