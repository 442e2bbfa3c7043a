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
  /** Null where write-behind is off. */
  readonly writeBuffer: WriteBuffer | null;
  readonly statementTimeoutMs: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export type DataHandlers = ReturnType<typeof createDataHandlers>;

/** Somebody waits for a page. */
const CALL_MS = 10_000;
/** A page of long rows ends there. */
const MAX_PAGE_BYTES = 1_000_000;

/**
 * The operations of the signed API, as the panel uses them: the same validation, the same statements, the same gate beside
 * a running sync; only pages are smaller.
 */
export class DatabaseAccess {
  readonly parts: DatabaseParts;
  readonly data: DataHandlers;
  /** Reads without what waits in the write queue. */
  readonly behind: DataHandlers;

  constructor(parts: DatabaseParts) {
    this.parts = parts;
    const { engine, catalog, gate, writeBuffer, statementTimeoutMs } = parts;
    const limits = { maxRows: MAX_PAGE_ROWS, maxInsertRows: 1, maxAnswerBytes: MAX_PAGE_BYTES };
    const options = { engine, catalog, gate, limits, statementTimeoutMs };
    this.data = createDataHandlers({ ...options, queue: writeBuffer });
    this.behind = createDataHandlers({ ...options, queue: null });
  }

  /** `ms`: how long the caller has, if not the time of a page. */
  bounds(ms = this.parts.statementTimeoutMs): CallBounds {
    return { deadline: performance.now() + ms };
  }

  /** No write of the panel is keyed or queued, so nothing is remembered under a key or kept as text. */
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
