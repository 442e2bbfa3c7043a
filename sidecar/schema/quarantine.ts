import { ApiError } from '#protocol/errors.ts';
import { LEASE_DEAD_MS } from '../engine/cluster/leases.ts';
import type { Engine } from '../engine/engine.ts';
import type { EngineLog } from '../engine/log.ts';
import type { QuarantinedObject, RestoredObject } from '../engine/schema-calls.ts';

/** Copying a large column back takes its time. */
const CHANGE_TIMEOUT_MS = 3_600_000;
const LOCK_TIMEOUT_MS = 15_000;
/** Long enough to know that the holder is gone. */
const LOCK_WAIT_MS = LEASE_DEAD_MS + 1000;

export interface QuarantineOptions {
  readonly engine: Engine;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly log: EngineLog;
}

/**
 * Tables and columns that a sync has taken out of a schema and kept. Works beside a running sidecar: the lock keeps its syncs away, and
 * the schema's revision tells it to read the schema again.
 */
export class Quarantine {
  readonly #options: QuarantineOptions;

  constructor(options: QuarantineOptions) {
    this.#options = options;
  }

  /** Oldest first. */
  list(): Promise<QuarantinedObject[]> {
    return this.#options.engine.schemas.listQuarantine(null, { deadline: performance.now() + LOCK_TIMEOUT_MS });
  }

  /** @throws ApiError `unsupported_change` where the object has no place any more, `sync_in_progress`. */
  restore(object: QuarantinedObject): Promise<RestoredObject> {
    const { engine, now } = this.#options;
    return this.#locked(object, () => engine.schemas.restoreQuarantine(object.id, now(), changeBounds()));
  }

  purge(object: QuarantinedObject): Promise<QuarantinedObject> {
    return this.#locked(object, () => this.#options.engine.schemas.purgeQuarantine(object.id, changeBounds()));
  }

  async #locked<T>({ namespace }: QuarantinedObject, work: () => Promise<T>): Promise<T> {
    const bounds = { deadline: performance.now() + LOCK_TIMEOUT_MS };
    const lock = await this.#options.engine.leases.hold(namespace, bounds, LOCK_WAIT_MS);
    if (lock === null) {
      throw new ApiError('sync_in_progress', `a schema sync of namespace ${namespace} is running; try again later`);
    }
    try {
      return await work();
    } finally {
      await lock.release();
    }
  }
}

/** A column can only come back to a table that is there. */
export function tablesFirst(objects: readonly QuarantinedObject[]): QuarantinedObject[] {
  return [
    ...objects.filter((object) => object.kind === 'table'),
    ...objects.filter((object) => object.kind === 'column'),
  ];
}

function changeBounds(): { readonly deadline: number } {
  return { deadline: performance.now() + CHANGE_TIMEOUT_MS };
}
