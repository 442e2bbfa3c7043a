import { plainText } from '../console/line-text.ts';
import type { ConsoleLine } from '../shapes/console.ts';
import type { Backend } from '../shapes/server.ts';

/** The console, as a gate reads it. */
export interface GateLines {
  onLines(listener: (batch: readonly ConsoleLine[]) => void): () => void;
}

const MAX_REASON_CHARS = 300;
/** Standalone server: `FAILED  shop: its reason`. */
const STANDALONE_FAILED = /\bFAILED\s+([\w.-]+): (.*)$/;
/** FXServer, while it loads a resource. */
const FX_FAILED = [
  /(?:Couldn't|Could not|Failed to) (?:load|start) resource "?([\w.-]+)/i,
  /(?:Error|Failed) (?:loading|parsing|to load) script .*?@?([\w.-]+)[/\\]/i,
];
const FX_ERROR = /SCRIPT ERROR: (?:.*?)@@?([\w.-]+)[/\\]/;
const FX_STARTED = /Started resource ([\w.-]+)/;
const FX_STOPPED = /Stopping resource ([\w.-]+)/;

export interface BundleErrors {
  readonly count: number;
  readonly first: string;
}

/** Reads from the console which bundles failed, and on FXServer which started and stopped. */
export class LineWatch {
  readonly #isFx: boolean;
  readonly #stop: () => void;
  readonly #failures = new Map<string, string>();
  readonly #errors = new Map<string, BundleErrors>();
  readonly #started = new Set<string>();
  readonly #stopped = new Set<string>();

  constructor(lines: GateLines, backend: Backend) {
    this.#isFx = backend === 'fxserver';
    this.#stop = lines.onLines((batch) => {
      for (const { stream, text } of batch) if (stream === 'out' || stream === 'err') this.#read(plainText(text));
    });
  }

  /** First line of the failure of a bundle, or null. */
  failureOf(name: string): string | null {
    return this.#failures.get(name) ?? null;
  }

  /** Errors of scripts after their load. */
  errorsOf(name: string): BundleErrors | null {
    return this.#errors.get(name) ?? null;
  }

  hasStarted(name: string): boolean {
    return this.#started.has(name);
  }

  hasStopped(name: string): boolean {
    return this.#stopped.has(name);
  }

  close(): void {
    this.#stop();
  }

  #read(line: string): void {
    if (this.#isFx) this.#readFx(line);
    else {
      const [, name, reason] = STANDALONE_FAILED.exec(line) ?? [];
      if (name !== undefined) this.#fail(name, reason ?? '');
    }
  }

  #readFx(line: string): void {
    const [, started] = FX_STARTED.exec(line) ?? [];
    const [, stopped] = FX_STOPPED.exec(line) ?? [];
    const [, failed] = FX_FAILED.map((pattern) => pattern.exec(line)).find((match) => match !== null) ?? [];
    const [, faulty] = FX_ERROR.exec(line) ?? [];
    if (started !== undefined) this.#started.add(started);
    if (stopped !== undefined) this.#stopped.add(stopped);
    if (failed !== undefined) this.#fail(failed, line);
    else if (faulty !== undefined) this.#takeError(faulty, line);
  }

  /** Before the start has ended an error is one of the load. */
  #takeError(name: string, line: string): void {
    if (!this.#started.has(name)) {
      this.#fail(name, line);
      return;
    }
    const known = this.#errors.get(name) ?? { count: 0, first: line.trim().slice(0, MAX_REASON_CHARS) };
    this.#errors.set(name, { ...known, count: known.count + 1 });
  }

  #fail(name: string, reason: string): void {
    if (!this.#failures.has(name)) this.#failures.set(name, reason.trim().slice(0, MAX_REASON_CHARS));
  }
}
