import { FX_NAME, readFxResourceLine } from '../console/fx-lines.ts';
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
/** FXServer, while it loads a resource (citizenfx/fivem: `ServerResources.cpp`, the runtimes of scripts). */
const FX_FAILED = [
  new RegExp(`(?:Couldn't|Could not|Failed to) (?:find|load|start) resource "?${FX_NAME}`, 'i'),
  new RegExp(`Could not (?:find|start) dependency .+ for resource ${FX_NAME}`, 'i'),
  new RegExp(`Error (?:loading|parsing) script .+? in resource ${FX_NAME}`, 'i'),
];
/** A file that is missing: no resource is named, and the next one that starts is the one that asked for it. */
const FX_NOT_LOADED = /Failed to load script /i;
const FX_ERROR = /SCRIPT ERROR: (?:.*?)@@?([\w.-]+)[/\\]/;

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
  /** Line about a script that could not be loaded, until a resource has started. */
  #notLoaded: string | null = null;

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

  /** Whether the bundle has started since the watch began, and has not stopped again. */
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
    const told = readFxResourceLine(line);
    const [, failed] = FX_FAILED.map((pattern) => pattern.exec(line)).find((match) => match !== null) ?? [];
    const [, faulty] = FX_ERROR.exec(line) ?? [];
    if (told?.hasStarted === true) this.#takeStart(told.name);
    if (told?.hasStarted === false) this.#takeStop(told.name);
    if (failed !== undefined) this.#fail(failed, line);
    else if (faulty !== undefined) this.#takeError(faulty, line);
    else if (FX_NOT_LOADED.test(line)) this.#notLoaded ??= line;
  }

  #takeStart(name: string): void {
    this.#started.add(name);
    if (this.#notLoaded !== null) this.#fail(name, this.#notLoaded);
    this.#notLoaded = null;
  }

  #takeStop(name: string): void {
    this.#stopped.add(name);
    this.#started.delete(name);
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
