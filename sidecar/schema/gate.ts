import { ApiError } from '#protocol/errors.ts';
import { MAX_SYNC_WAIT_MS } from '#protocol/limits.ts';

/** The place of the one schema change that a namespace has at a time. */
export interface SyncPlace {
  /** Holds back new operations and resolves when those under way have ended. */
  close(): Promise<void>;
  /** Lets the operations that wait go on, while the place stays taken. */
  open(): void;
  /** Lets the operations that wait go on and frees the place. May be called twice. */
  release(): void;
}

interface State {
  operations: number;
  hasSync: boolean;
  isClosed: boolean;
  /** Resolvers of operations that wait for the gate to open. */
  waiting: Set<() => void>;
  /** Waiting syncs, the longest first. */
  syncs: ((place: SyncPlace) => void)[];
  /** Called when the last operation under way has ended. */
  onIdle: (() => void) | null;
}

/**
 * Lets many operations or one schema change at a time into a namespace, within this process. Between processes
 * the lock row keeps syncs apart, and the schema's revision refuses statements that are out of date.
 */
export class NamespaceGate {
  readonly #states = new Map<string, State>();
  readonly #waitMs: number;

  constructor(options: { waitMs?: number } = {}) {
    this.#waitMs = options.waitMs ?? MAX_SYNC_WAIT_MS;
  }

  /** Whether an operation that begins and ends in this very step may run: no schema change holds operations back. */
  isOpen(namespace: string): boolean {
    return this.#states.get(namespace)?.isClosed !== true;
  }

  /**
   * Runs `work` beside other operations, after a running schema change.
   * @throws ApiError `sync_in_progress` where that takes longer than 3 s.
   */
  async run<T>(namespace: string, work: () => Promise<T>): Promise<T> {
    let state = this.#state(namespace);
    while (state.isClosed) {
      await this.#opened(namespace, state);
      // Another operation may have ended meanwhile, and the state been forgotten with it.
      state = this.#state(namespace);
    }
    state.operations += 1;
    try {
      return await work();
    } finally {
      state.operations -= 1;
      if (state.operations === 0) {
        state.onIdle?.();
        this.#tidy(namespace, state);
      }
    }
  }

  /** Null while another sync has the place. Operations go on until the place is closed. */
  beginSync(namespace: string): SyncPlace | null {
    const state = this.#state(namespace);
    return state.hasSync ? null : this.#place(namespace, state);
  }

  /** As `beginSync`, but waits for the place, in the order of calls; null if it takes longer than `waitMs`. */
  async awaitSync(namespace: string, waitMs: number): Promise<SyncPlace | null> {
    const place = this.beginSync(namespace);
    if (place !== null) return place;
    const state = this.#state(namespace);
    return new Promise((resolve) => {
      const take = (given: SyncPlace): void => {
        clearTimeout(timer);
        resolve(given);
      };
      const timer = setTimeout(() => {
        state.syncs = state.syncs.filter((waiting) => waiting !== take);
        resolve(null);
      }, waitMs);
      state.syncs.push(take);
    });
  }

  #place(namespace: string, state: State): SyncPlace {
    state.hasSync = true;
    let isReleased = false;
    return {
      close: () => {
        state.isClosed = true;
        return idle(state);
      },
      open: () => openGate(state),
      release: () => {
        if (!isReleased) {
          isReleased = true;
          this.#open(namespace, state);
        }
      },
    };
  }

  #state(namespace: string): State {
    let state = this.#states.get(namespace);
    if (state === undefined) {
      state = { operations: 0, hasSync: false, isClosed: false, waiting: new Set(), syncs: [], onIdle: null };
      this.#states.set(namespace, state);
    }
    return state;
  }

  async #opened(namespace: string, state: State): Promise<void> {
    const deadline = performance.now() + this.#waitMs;
    // Another sync may close the gate between its opening and this operation's turn.
    while (state.isClosed) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || !(await openedWithin(state, leftMs))) {
        throw new ApiError('sync_in_progress', `a schema sync of namespace ${namespace} is running; try again`);
      }
    }
  }

  #open(namespace: string, state: State): void {
    state.hasSync = false;
    const waiting = openGate(state);
    state.syncs.shift()?.(this.#place(namespace, state));
    if (waiting === 0) {
      this.#tidy(namespace, state);
    }
  }

  /** Forgets a state that nobody holds: names of namespaces come from callers. */
  #tidy(namespace: string, state: State): void {
    if (state.operations === 0 && !state.hasSync && state.waiting.size === 0) {
      this.#states.delete(namespace);
    }
  }
}

/** How many operations have waited. */
function openGate(state: State): number {
  state.isClosed = false;
  const waiting = [...state.waiting];
  state.waiting.clear();
  for (const resume of waiting) {
    resume();
  }
  return waiting.length;
}

function idle(state: State): Promise<void> {
  if (state.operations === 0) {
    return Promise.resolve();
  }
  return new Promise((resolve) => {
    state.onIdle = () => {
      state.onIdle = null;
      resolve();
    };
  });
}

/** Resolves true when the gate opens, false after `ms`. */
function openedWithin(state: State, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const resume = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    const timer = setTimeout(() => {
      state.waiting.delete(resume);
      resolve(false);
    }, ms);
    state.waiting.add(resume);
  });
}
