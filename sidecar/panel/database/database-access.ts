import type { Engine } from '#engine/engine.ts';
import type { CallBounds } from '#engine/rows.ts';
import { type CallContext, CallTiming } from '#sidecar/data/call-context.ts';
import { createDataHandlers } from '#sidecar/data/handlers.ts';
import type { SchemaCatalog } from '#sidecar/schema/catalog.ts';
import type { NamespaceGate } from '#sidecar/schema/gate.ts';
import type { WriteBuffer } from '#sidecar/write-behind/write-buffer.ts';
import { MAX_PAGE_ROWS } from '../shapes/database.ts';

export interface DatabaseParts {
  readonly engine: Engine;
  readonly catalog: SchemaCatalog;
  readonly gate: NamespaceGate;
  /** null if write-behind is off. */
  readonly writeBuffer: WriteBuffer | null;
  readonly statementTimeoutMs: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export type DataHandlers = ReturnType<typeof createDataHandlers>;

/** Deadline of a call: a person waits for the page. */
const CALL_MS = 10_000;
/** Bound of a page with long rows. */
const MAX_PAGE_BYTES = 1_000_000;

/**
 * The operations of the signed API for the panel: same validation, same statements, same gate beside a running sync, but
 * smaller pages.
 */
export class DatabaseAccess {
  readonly parts: DatabaseParts;
  readonly data: DataHandlers;
  /** Reads without the waiting writes of the queue. */
  readonly behind: DataHandlers;

  constructor(parts: DatabaseParts) {
    this.parts = parts;
    const { engine, catalog, gate, writeBuffer, statementTimeoutMs } = parts;
    const limits = { maxRows: MAX_PAGE_ROWS, maxInsertRows: 1, maxAnswerBytes: MAX_PAGE_BYTES };
    const options = { engine, catalog, gate, limits, statementTimeoutMs };
    this.data = createDataHandlers({ ...options, queue: writeBuffer });
    this.behind = createDataHandlers({ ...options, queue: null });
  }

  /** @param ms deadline, if it is not the one of a page */
  bounds(ms = this.parts.statementTimeoutMs): CallBounds {
    return { deadline: performance.now() + ms };
  }

  /** Writes of the panel have no idempotency key and are not queued, so neither key nor text is stored. */
  context(ms = CALL_MS): CallContext {
    return {
      text: '',
      kid: '',
      allowUnfilteredWrites: false,
      deadline: performance.now() + ms,
      now: this.parts.now(),
      timing: new CallTiming(),
    };
  }
}
