import { setTimeout as wait } from 'node:timers/promises';
import type { LogFile } from '../../sidecar/embedded/log-file.ts';
import { importantLine, parseSidecarLine } from '../../sidecar/embedded/readable-line.ts';
import { RequestLines } from '../../sidecar/embedded/request-lines.ts';
import { type ChildProgram, startChild, stopChild } from './child-program.ts';

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
/** After this long a crash is a new story, and the pauses begin anew. */
const STEADY_MS = 60_000;
const STOP_MS = 15_000;
/** What the sidecar logs for each file of its first start. */
const MADE_A_FILE = 'made a file that was missing';

export interface SidecarSettings {
  readonly program: string;
  readonly config: string;
  readonly log: LogFile;
  readonly say: (line: string) => void;
}

/** The sidecar as a child: log to a file, important lines to the console, started again when it crashes. */
export class SidecarProcess {
  /** Resolves with the address of the API once it first listens. */
  readonly listening: Promise<string>;
  readonly #settings: SidecarSettings;
  readonly #stopping = new AbortController();
  readonly #requests = new RequestLines();
  #onListening: (address: string) => void;
  #hasListened = false;
  #child: ChildProgram | null = null;

  constructor(settings: SidecarSettings) {
    const { promise, resolve } = Promise.withResolvers<string>();
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

  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#child !== null) await stopChild(this.#child, STOP_MS);
  }

  /** How it ended. */
  async #runOnce(): Promise<string> {
    const { program, config } = this.#settings;
    const child = startChild({
      args: [program, '--config', config],
      hasInput: false,
      onLine: (line) => this.#onLine(line),
    });
    this.#child = child;
    await child.ended;
    this.#child = null;
    return child.howEnded();
  }

  #onLine(text: string): void {
    this.#settings.log.write(text);
    const line = parseSidecarLine(text);
    if (line === null) {
      this.#settings.say(`[sidecar] ${text.replace(/^sidecar: /, '')}`);
      return;
    }
    const important = importantLine(line);
    if (important !== null)
      this.#sayImportant(`[sidecar] ${important}`, this.#requests.leftOutBefore(line, performance.now()));
    if (line.msg === MADE_A_FILE) this.#settings.say(`  made ${line.fields.file}`);
    if (line.msg === 'listening' && line.fields.service === 'api') this.#listens(String(line.fields.address));
  }

  #sayImportant(text: string, leftOut: number | null): void {
    if (leftOut === null) return;
    this.#settings.say(leftOut === 0 ? text : `${text}, and ${leftOut} more with this code since the last such line`);
  }

  #listens(address: string): void {
    if (this.#hasListened) this.#settings.say(`[sidecar] listening again on ${address}`);
    this.#hasListened = true;
    this.#onListening(address);
  }
}
