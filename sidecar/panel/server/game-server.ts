import type { KeeperLink } from '#sidecar/keeper/channel/keeper-link.ts';
import type { LineSink } from '../console/console-log.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import type { PanelStore } from '../store/panel-store.ts';
import type { StoreTrouble } from '../store-trouble.ts';
import { ServerControl } from './control.ts';
import { CrashRecords, type CrashSources } from './crashes.ts';
import { GoodRun } from './good-run.ts';
import { Players } from './players.ts';
import type { StandalonePlace } from './process/backends/standalone.ts';
import { KeptProcesses } from './process/kept-processes.ts';
import { OWN_CHILDREN } from './process/spawn.ts';
import { RunMemory } from './run-memory.ts';
import { type StoringConsole, storedLines } from './stored-lines.ts';

export interface GameServerOptions {
  readonly store: PanelStore;
  readonly trouble: Pick<StoreTrouble, 'attempt'>;
  readonly settings: PanelSettings;
  readonly console: LineSink & StoringConsole;
  readonly latestActions: CrashSources['latestActions'];
  readonly standalone: StandalonePlace;
  readonly environment: NodeJS.ProcessEnv;
  readonly secretVariables: ReadonlySet<string>;
  /** Holds the processes; null: they are children of this one. */
  readonly keeper: KeeperLink | null;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Figures for a monitoring system; starts and crashes count from the panel's begin. */
export interface ServerFigures {
  /** Running, and not frozen; null: something else runs the server. */
  readonly isUp: boolean | null;
  readonly starts: number;
  readonly crashes: number;
  /** null: the server does not report them. */
  readonly players: number | null;
}

/** The game server with its crash records and its last good run. */
export class GameServer {
  readonly control: ServerControl;
  readonly crashes: CrashRecords;
  readonly players: Players;
  readonly #goodRun: GoodRun;
  #starts = 0;

  constructor({ store, trouble, latestActions, keeper, ...options }: GameServerOptions) {
    const { settings, console, now } = options;
    const goodRun = new GoodRun(store, settings);
    const latestLines = (count: number) => console.latest(count);
    this.#goodRun = goodRun;
    this.crashes = new CrashRecords(store, { now, latestLines, latestActions, changes: () => goodRun.changes() });
    const memory = new RunMemory(store, trouble);
    const processes = keeper === null ? OWN_CHILDREN : new KeptProcesses(keeper, storedLines(console));
    this.control = new ServerControl({ ...options, crashes: this.crashes, memory, processes });
    this.players = new Players({ settings, control: this.control });
    this.control.onStatus((status) => goodRun.follow(status));
    this.control.onStart(() => {
      this.#starts += 1;
    });
  }

  figures(): ServerFigures {
    const { state, hungSince, backend } = this.control.status();
    const isRunning = state === 'running';
    return {
      isUp: backend === 'none' ? null : isRunning && hungSince === null,
      starts: this.#starts,
      crashes: this.crashes.count,
      players: isRunning || backend === 'none' ? (this.control.health()?.players ?? null) : 0,
    };
  }

  /** Stops the server. After this has resolved nothing is written any more. */
  async close(): Promise<void> {
    await this.control.close();
    await this.#settle();
  }

  /** Leaves the server to the next sidecar. After this has resolved nothing is written any more. */
  async letGo(): Promise<void> {
    await this.control.letGo();
    await this.#settle();
  }

  async #settle(): Promise<void> {
    await this.crashes.settled();
    await this.#goodRun.close();
  }
}
