import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { ServerControl } from '#panel/server/control.ts';
import type { CrashRecords } from '#panel/server/crashes.ts';
import { GameServer } from '#panel/server/game-server.ts';
import { readStat } from '#panel/server/process/group.ts';
import { PanelSettings, type SettingValues } from '#panel/settings/panel-settings.ts';
import type { ConsoleLine, LineStream } from '#panel/shapes/console.ts';
import type { ServerState, ServerStatus } from '#panel/shapes/server.ts';
import { openPanelStore } from '#panel/store/panel-store.ts';
import { testFolder } from '#support/test-folder.ts';

const FAKE = fileURLToPath(new URL('./fake-game-server.ts', import.meta.url));
const STANDALONE = fileURLToPath(new URL('../../../standalone/main.ts', import.meta.url));

/** A start line for the fake server with the options of `fake-game-server.ts`. */
export function fakeLine(...options: string[]): string {
  return [process.execPath, FAKE, ...options].map((word) => `"${word}"`).join(' ');
}

const FAKE_SERVER: Partial<SettingValues> = { backend: 'command', startLine: fakeLine(), stopLine: 'quit' };

/** For servers that do not do as they are told; one that does may need longer on a busy machine. */
export const SHORT_WAITS = { stopWaitSeconds: 0.3, killWaitSeconds: 0.3 } as const;

/** The server control with everything below it, on a folder of its own. */
export class ServerRig {
  readonly folder: string;
  readonly settings: PanelSettings;
  readonly control: ServerControl;
  readonly crashes: CrashRecords;
  readonly lines: ConsoleLine[] = [];
  readonly statuses: ServerStatus[] = [];
  runs = 0;
  readonly #store;
  readonly #server: GameServer;

  /** @param folder that of a rig before it, which was "killed" */
  constructor(changes: Partial<SettingValues> = {}, folder = testFolder()) {
    this.folder = folder;
    mkdirSync(join(folder, 'server'), { recursive: true });
    this.#store = openPanelStore(join(folder, 'panel.sqlite'));
    this.settings = new PanelSettings(this.#store);
    this.settings.update({ ...FAKE_SERVER, serverRoot: join(folder, 'server'), ...changes });
    this.#server = this.#newServer();
    this.control = this.#server.control;
    this.crashes = this.#server.crashes;
    this.control.onStatus((status) => this.statuses.push(status));
  }

  get state(): ServerState {
    return this.control.status().state;
  }

  texts(stream?: LineStream): string[] {
    return this.lines.filter((line) => stream === undefined || line.stream === stream).map(({ text }) => text);
  }

  async reaches(state: ServerState): Promise<ServerStatus> {
    await expect.poll(() => this.state, { interval: 5 }).toBe(state);
    return this.control.status();
  }

  /** The first line that matches, of those that have come or are to come. */
  async line(pattern: RegExp): Promise<string> {
    await expect.poll(() => this.lines.find(({ text }) => pattern.test(text))?.text, { interval: 5 }).toBeDefined();
    return this.lines.find(({ text }) => pattern.test(text))?.text ?? '';
  }

  /** Up, and reading its input. Resolves with its process. */
  async started(): Promise<number> {
    this.control.start('anna');
    return Number(/^ready (\d+)/.exec(await this.line(/^ready/))?.[1]);
  }

  async remove(): Promise<void> {
    await this.#server.close();
    this.#store.close();
  }

  #newServer(): GameServer {
    return new GameServer({
      store: this.#store,
      trouble: { attempt: (work) => work() },
      settings: this.settings,
      console: {
        beginRun: () => {
          this.runs += 1;
        },
        append: (stream, text) => {
          this.lines.push({ seq: this.lines.length + 1, time: new Date().toISOString(), stream, text });
        },
        drain: async () => {},
        latest: (count) => this.lines.slice(-count),
      },
      latestActions: () => [{ time: 'just now', username: 'anna', action: 'server.start', subject: '', result: 'ok' }],
      standalone: { program: STANDALONE, vfs: null },
      keeper: null,
      environment: process.env,
      secretVariables: new Set(['MY_DATABASE_URL']),
      now: Date.now,
    });
  }
}

/** No such process, or one that is dead and only not waited for. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform === 'linux' && 'ZX'.includes(readStat(pid)?.state ?? 'X');
  } catch {
    return true;
  }
}
