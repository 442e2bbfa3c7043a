import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { PanelSettings, type SettingValues } from '#panel/settings/panel-settings.ts';
import { PERMISSIONS } from '#panel/shapes/permissions.ts';
import { openPanelStore } from '#panel/store/panel-store.ts';
import { type ConfigChanges, writeConfig } from '#support/config-folder.ts';
import { KEEPER_MAIN } from '#support/sidecar-program.ts';
import { testFolder } from '#support/test-folder.ts';
import { insertAccount } from './quick-account.ts';
import { isGone } from './server-rig.ts';

export interface KeeperRigOptions {
  readonly config?: ConfigChanges;
  readonly settings?: Partial<SettingValues>;
  /** Default: the keeper. */
  readonly program?: string;
}

/** A keeper as a process, with the sidecar and the game server below it, on a folder of its own. */
export class KeeperRig {
  readonly folder = testFolder();
  readonly config: string;
  readonly output: string[] = [];
  readonly errors: string[] = [];
  /** Variables of the next start. */
  environment: Readonly<Record<string, string>> = {};
  readonly #program: string;
  #keeper: ChildProcess | null = null;

  constructor({ config = {}, settings = {}, program = KEEPER_MAIN }: KeeperRigOptions = {}) {
    const { panel, ...others } = config;
    this.config = writeConfig(this.folder, {
      ...others,
      panel: { enabled: true, port: 0, ...(panel as object | undefined) },
    });
    this.#program = program;
    mkdirSync(join(this.folder, 'game'), { recursive: true });
    this.changeSettings({
      ...{ backend: 'command', serverRoot: join(this.folder, 'game'), autoStartServer: true, stopLine: 'quit' },
      ...settings,
    });
  }

  get process(): ChildProcess {
    if (this.#keeper === null) throw new Error('the keeper was not started');
    return this.#keeper;
  }

  /** While no sidecar runs. */
  changeSettings(settings: Partial<SettingValues>): void {
    const store = openPanelStore(join(this.folder, 'data/panel.sqlite'));
    new PanelSettings(store).update(settings);
    store.close();
  }

  /** While no sidecar runs: an account with every permission. */
  makeOwner(): void {
    const store = openPanelStore(join(this.folder, 'data/panel.sqlite'));
    insertAccount(store, 'owner', PERMISSIONS);
    store.close();
  }

  start(...args: string[]): ChildProcess {
    const child = spawn(process.execPath, [this.#program, '--config', this.config, ...args], {
      env: { ...process.env, ...this.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.on('data', (bytes) => this.output.push(String(bytes)));
    child.stderr.on('data', (bytes) => this.errors.push(String(bytes)));
    this.#keeper = child;
    return child;
  }

  /** Log lines of keeper and sidecars. */
  log(): Record<string, unknown>[] {
    const lines = this.output.join('').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** For the message of a failure. */
  lastOutput(): string {
    const { exitCode, signalCode } = this.process;
    const lines = [...this.output.join('').split('\n').slice(-12), ...this.errors.slice(-3)];
    return `the keeper's end: ${exitCode ?? signalCode}\n${lines.join('\n')}`;
  }

  /** Addresses at which the panel has listened, the newest last. */
  panels(): string[] {
    const found = this.log().filter(({ msg, service }) => msg === 'listening' && service === 'panel');
    return found.map(({ address }) => String(address));
  }

  /** Lines of the console's files: `SEQ TIME STREAM TEXT`. */
  console(): string[] {
    const logs = join(this.folder, 'logs/console');
    try {
      const names = readdirSync(logs).filter((name) => name.endsWith('.log'));
      const lines = names.flatMap((name) => readFileSync(join(logs, name), 'utf8').split('\n').slice(0, -1));
      return lines.toSorted((a, b) => Number(a.split(' ', 1)[0]) - Number(b.split(' ', 1)[0]));
    } catch {
      return [];
    }
  }

  /** Numbers of the lines `tick N` in the order of the console. */
  ticks(): number[] {
    return this.console().flatMap((line) => Number(/ out tick (\d+)$/.exec(line)?.[1] ?? 0) || []);
  }

  /** Process ids of the game servers so far, in the order of their starts. */
  servers(): number[] {
    return this.console().flatMap((line) => Number(/ out ready (\d+) in/.exec(line)?.[1] ?? 0) || []);
  }

  async server(count = 1): Promise<number> {
    await expect.poll(() => this.servers().length).toBe(count);
    return this.servers().at(-1) as number;
  }

  /** Process id of the sidecar below the keeper. */
  sidecar(): number {
    const { pid } = this.process;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
    const isSidecar = (child: number) =>
      /\bmain\.(js|ts)\0--config/.test(readFileSync(`/proc/${child}/cmdline`, 'utf8'));
    return children.find(isSidecar) ?? 0;
  }

  async stop(): Promise<void> {
    const keeper = this.#keeper;
    if (keeper !== null && keeper.exitCode === null && keeper.signalCode === null) {
      keeper.kill('SIGTERM');
      await once(keeper, 'exit');
    }
    for (const pid of this.servers()) if (!isGone(pid)) process.kill(pid, 'SIGKILL');
  }
}
