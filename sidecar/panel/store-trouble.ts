import { type Log, traceOf } from '../log.ts';
import type { PanelStore } from './store/panel-store.ts';
import { type StoreFault, storeFaultOf } from './store/store-fault.ts';

/** Wait for another program, on the thread that serves the API too. */
const BUSY_MS = 100;
/** Time without any wait after a wait that was in vain. */
const REST_MS = 1000;
const TELL_AGAIN_MS = 600_000;

/** Faults of `panel.sqlite` while the panel runs: logged from time to time, and never the end of the sidecar. */
export class StoreTrouble {
  readonly #store: PanelStore;
  readonly #file: string;
  readonly #log: Log;
  /** Keyed by error code. */
  readonly #toldAt = new Map<string, number>();

  constructor(store: PanelStore, file: string, log: Log) {
    this.#store = store;
    this.#file = file;
    this.#log = log;
    this.#wait(BUSY_MS);
  }

  /** Returns the fault; null if it is none of the file. @param otherwise log line for such an error */
  tell(error: unknown, otherwise: string): StoreFault | null {
    const fault = storeFaultOf(error, this.#file);
    if (fault === null) {
      this.#log.error(otherwise, { cause: traceOf(error) });
      return null;
    }
    if (fault.code.startsWith('SQLITE_BUSY')) this.#rest();
    const toldAt = this.#toldAt.get(fault.code) ?? Number.NEGATIVE_INFINITY;
    if (performance.now() - toldAt >= TELL_AGAIN_MS) {
      this.#toldAt.set(fault.code, performance.now());
      this.#log.error(fault.message);
    }
    return fault;
  }

  /** Result of `work`, or `otherwise` after a logged fault, and after the panel has ended. */
  attempt<Result>(work: () => Result, otherwise: Result): Result {
    if (!this.#store.open) return otherwise;
    try {
      return work();
    } catch (error) {
      this.tell(error, "the panel's file could not be used");
      return otherwise;
    }
  }

  #rest(): void {
    this.#wait(0);
    setTimeout(() => this.#wait(BUSY_MS), REST_MS).unref();
  }

  #wait(ms: number): void {
    if (this.#store.open) this.#store.pragma(`busy_timeout = ${ms}`);
  }
}
