import type { EngineLog } from '#engine/log.ts';
import { LOG_EVENT } from '#sidecar/log-event.ts';
import type { Clock } from './clock.ts';
import { reasonOf } from './disk.ts';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;

export interface RepairOptions {
  readonly folder: string;
  readonly clock: Clock;
  readonly log: EngineLog;
  /** Throws where the disk still refuses. */
  readonly attempt: () => Promise<void>;
  /** It did not. */
  readonly onRepaired: () => void;
}

/** Tries by itself, more and more rarely, until the disk takes writes again. */
export class Repair {
  readonly #options: RepairOptions;
  #running: Promise<void> | null = null;
  #stopPause: () => void = () => {};
  #isStopped = false;

  constructor(options: RepairOptions) {
    this.#options = options;
  }

  /** `reason` has been told already. */
  begin(reason: string): void {
    if (!this.#isStopped) this.#running ??= this.#run(reason);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopPause();
    await this.#running;
  }

  async #run(reason: string): Promise<void> {
    const { folder, log, attempt, onRepaired } = this.#options;
    let told = reason;
    for (let pauseMs = FIRST_PAUSE_MS; !this.#isStopped; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      await this.#pause(pauseMs);
      if (this.#isStopped) break;
      try {
        await attempt();
        this.#running = null;
        log('info', 'the journal can be written again', { event: LOG_EVENT.recovered, folder });
        onRepaired();
        return;
      } catch (error) {
        if (reasonOf(error) !== told) log('error', `the journal cannot be written: ${reasonOf(error)}`, { folder });
        told = reasonOf(error);
      }
    }
    this.#running = null;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.setTimeout(resolve, ms);
      this.#stopPause = () => {
        cancel();
        resolve();
      };
    });
  }
}
