import { setTimeout as wait } from 'node:timers/promises';
import type { LogFile } from '#sidecar/embedded/log-file.ts';
import { importantLine, parseSidecarLine, RequestLines, type SidecarLine } from '#sidecar/embedded/readable-line.ts';
import { LOG_EVENT } from '#sidecar/log-event.ts';
import { type ChildProgram, startChild, stopChild } from './child-program.ts';

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
/** After this time a crash counts as the first again, and the pauses begin with the shortest. */
const STEADY_MS = 60_000;
/** Its stop waits for the game server, as long as the settings of the panel say: at most 600 s for each of two steps. */
const STOP_MS = 1_300_000;
const SETUP_KEY = 'setup key';

export interface Addresses {
  readonly api: string;
  readonly panel: string;
}

export interface SidecarSettings {
  readonly program: string;
  readonly config: string;
  /** Root of the standalone server that its panel runs. */
  readonly serverRoot: string;
  readonly onConsoleLine: (line: string) => void;
  readonly log: LogFile;
  readonly say: (line: string) => void;
}

/**
 * The sidecar as a child: log to a file, important lines and those of the game server to the console, started again when it
 * crashes.
 */
export class SidecarProcess {
  /** Resolves once API and panel first listen. */
  readonly listening: Promise<Addresses>;
  readonly #settings: SidecarSettings;
  readonly #stopping = new AbortController();
  readonly #requests = new RequestLines();
  #onListening: (addresses: Addresses) => void;
  readonly #addresses: Partial<Addresses> & Record<string, string> = {};
  #setupKey: string | null = null;
  #backupPlan: string | null = null;
  #hasListened = false;
  #child: ChildProgram | null = null;

  constructor(settings: SidecarSettings) {
    const { promise, resolve } = Promise.withResolvers<Addresses>();
    this.listening = promise;
    this.#onListening = resolve;
    this.#settings = settings;
  }

  /** Resolves when it was stopped, or when it ended before it ever listened: then starting again would not help. */
  async run(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (!this.#stopping.signal.aborted) {
      const startedMs = performance.now();
      const how = await this.#runOnce();
      if (this.#stopping.signal.aborted || !this.#hasListened) return;
      if (performance.now() - startedMs > STEADY_MS) pauseMs = FIRST_PAUSE_MS;
      this.#settings.say(`[sidecar] ended with ${how}; starting it again in ${pauseMs / 1000} s`);
      await wait(pauseMs, undefined, { signal: this.#stopping.signal }).catch(() => {});
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }

  /** Until the setup of the panel is done. */
  get setupKey(): string | null {
    return this.#setupKey;
  }

  /** When and where backups are made; null if none are. */
  get backupPlan(): string | null {
    return this.#backupPlan;
  }

  /** Types a line on the console of the game server. */
  type(line: string): void {
    this.#child?.process.stdin?.write(`${line}\n`);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#child !== null) await stopChild(this.#child, STOP_MS);
  }

  /** How it ended. */
  async #runOnce(): Promise<string> {
    const { program, config, serverRoot } = this.#settings;
    const child = startChild({
      args: [program, '--config', config, '--server-root', serverRoot],
      onLine: (line) => this.#onLine(line),
    });
    child.process.stdin?.on('error', () => {});
    this.#child = child;
    await child.ended;
    this.#child = null;
    return child.howEnded();
  }

  /** The console has files of its own, and a key has no place in a log that stays. */
  #onLine(text: string): void {
    const line = parseSidecarLine(text);
    if (line?.fields.event === LOG_EVENT.consoleLine) this.#settings.onConsoleLine(String(line.fields.text));
    else if (line?.msg === SETUP_KEY) this.#setupKey = String(line.fields.key);
    else this.#onLogLine(text, line);
  }

  #onLogLine(text: string, line: SidecarLine | null): void {
    this.#settings.log.write(text);
    if (line === null) {
      this.#settings.say(`[sidecar] ${text.replace(/^sidecar: /, '')}`);
      return;
    }
    const important = importantLine(line);
    if (important !== null)
      this.#sayImportant(`[sidecar] ${important}`, this.#requests.leftOutBefore(line, performance.now()));
    if (line.fields.event === LOG_EVENT.fileMade) this.#settings.say(`  made ${line.fields.file}`);
    if (line.fields.event === LOG_EVENT.backupMade) this.#settings.say(`[sidecar] made the backup ${line.fields.path}`);
    if (line.fields.event === LOG_EVENT.backupPlan)
      this.#backupPlan = `${line.fields.when}, into ${line.fields.folder}`;
    if (line.msg === 'listening') this.#listens(String(line.fields.service), String(line.fields.address));
  }

  #sayImportant(text: string, leftOut: number | null): void {
    if (leftOut === null) return;
    this.#settings.say(leftOut === 0 ? text : `${text}, and ${leftOut} more with this code since the last such line`);
  }

  #listens(service: string, address: string): void {
    const again = this.#addresses[service] === undefined ? '' : ' again';
    if (this.#hasListened) this.#settings.say(`[sidecar] its ${service} listens${again} on ${address}`);
    this.#addresses[service] = address;
    const { api, panel } = this.#addresses;
    if (api === undefined || panel === undefined) return;
    this.#hasListened = true;
    this.#onListening({ api, panel });
  }
}
