import type { BackupProgram } from './backup-program.ts';

/** The clock may be set meanwhile, and a timer cannot wait for weeks. */
const LOOK_EVERY_MS = 30_000;

export interface DueWorkOptions {
  /** Ends with the looking, so that a stop waits for no backup. */
  readonly program: BackupProgram;
  /** Work that is due; null: none. */
  readonly due: () => (() => Promise<unknown>) | null;
  /** The work failed in a way that it does not tell itself. */
  readonly onFailed: (cause: string) => void;
}

/** Looks now and then whether work is due, and does one at a time, until it is stopped. */
export class DueWork {
  readonly #options: DueWorkOptions;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<unknown> = Promise.resolve();
  #isStopped = false;

  constructor(options: DueWorkOptions) {
    this.#options = options;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  look(): void {
    if (this.#isStopped) return;
    const work = this.#options.due();
    if (work === null) this.#lookLater();
    else this.#running = this.#do(work).finally(() => this.#lookLater());
  }

  /** Gives up running work: it leaves nothing that looks whole. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#options.program.stop();
    await this.#running;
  }

  async #do(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!this.#isStopped) this.#options.onFailed((error as Error).message);
    }
  }

  #lookLater(): void {
    if (!this.#isStopped) this.#timer = setTimeout(() => this.look(), LOOK_EVERY_MS).unref();
  }
}
