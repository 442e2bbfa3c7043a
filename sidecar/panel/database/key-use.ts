import type { SeenCall } from '#sidecar/data/call-watch.ts';
import type { KeyInfo, KeysAnswer } from '../shapes/database.ts';
import type { PanelStore } from '../store/panel-store.ts';

/** A key of the configuration, without its secrets. */
export interface ConfiguredKey {
  readonly kid: string;
  readonly previous: { readonly until: number } | null;
  readonly operations: readonly string[];
  readonly namespaces: readonly string[];
  readonly allowUnfilteredWrites: boolean;
  readonly addresses: readonly string[];
}

interface Use {
  /** Epoch milliseconds. */
  at: number;
  address: string;
  /** Since the start. */
  calls: number;
  isSaved: boolean;
}

interface StoredUse {
  readonly kid: string;
  readonly used_at: number;
  readonly address: string;
}

const SAVE_MS = 60_000;

/** Last use of each key, also before the last start. */
export class KeyUse {
  readonly #store: PanelStore;
  readonly #keys: readonly ConfiguredKey[];
  readonly #now: () => number;
  readonly #onTrouble: (error: unknown) => void;
  readonly #uses = new Map<string, Use>();
  readonly #timer: NodeJS.Timeout;

  /** `onTrouble`: a full disk only loses the uses of a minute. */
  constructor(
    store: PanelStore,
    keys: readonly ConfiguredKey[],
    { now, onTrouble }: { readonly now: () => number; readonly onTrouble: (error: unknown) => void },
  ) {
    this.#store = store;
    this.#onTrouble = onTrouble;
    this.#keys = keys;
    this.#now = now;
    const stored = store.prepare('SELECT kid, used_at, address FROM key_use').all() as StoredUse[];
    for (const { kid, used_at: at, address } of stored) this.#uses.set(kid, { at, address, calls: 0, isSaved: true });
    this.#timer = setInterval(() => this.#save(), SAVE_MS).unref();
  }

  saw({ kid, address }: SeenCall): void {
    const use = this.#uses.get(kid);
    if (use === undefined) {
      this.#uses.set(kid, { at: this.#now(), address, calls: 1, isSaved: false });
      return;
    }
    use.at = this.#now();
    use.address = address;
    use.calls += 1;
    use.isSaved = false;
  }

  read(): KeysAnswer {
    return { keys: this.#keys.map((key) => this.#info(key)) };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#save();
  }

  #info({ kid, previous, operations, namespaces, addresses, allowUnfilteredWrites }: ConfiguredKey): KeyInfo {
    const use = this.#uses.get(kid);
    const isRotating = previous !== null && previous.until > this.#now();
    return {
      ...{ kid, operations, namespaces, addresses, allowUnfilteredWrites },
      previousUntil: isRotating ? new Date(previous.until).toISOString() : null,
      lastUsed: use === undefined ? null : new Date(use.at).toISOString(),
      lastAddress: use?.address ?? null,
      calls: use?.calls ?? 0,
    };
  }

  /** Saves once a minute, so that no call waits for the disk. */
  #save(): void {
    try {
      this.#write();
    } catch (error) {
      this.#onTrouble(error);
    }
  }

  #write(): void {
    const fresh = [...this.#uses].filter(([, use]) => !use.isSaved);
    if (fresh.length === 0) return;
    const write = this.#store.prepare('INSERT OR REPLACE INTO key_use (kid, used_at, address) VALUES (?, ?, ?)');
    this.#store.transaction(() => {
      for (const [kid, use] of fresh) write.run(kid, use.at, use.address);
    })();
    for (const [, use] of fresh) use.isSaved = true;
  }
}
