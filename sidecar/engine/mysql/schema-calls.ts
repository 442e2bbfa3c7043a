import type { CallBounds, Engine, EngineLog } from '../engine.ts';
import { SchemaConnection } from '../sql/schema-connection.ts';
import { quarantineRows } from '../sql/schema-quarantine.ts';
import type { Session, Sessions } from '../sql/session.ts';
import { applySchema, checkSchema, finishPending } from './schema-apply.ts';
import type { SchemaTools } from './schema-carry-out.ts';
import { schemaDialect } from './schema-dialect.ts';
import { lockNamespace, unlockNamespace } from './schema-locks.ts';
import { purgeQuarantine, restoreQuarantine } from './schema-restore.ts';
import { readRow, unfinished } from './schema-store.ts';
import { createMysqlTransfer } from './schema-transfer.ts';
import { inTurn } from './schema-turn.ts';
import type { Flavour } from './schema-types.ts';

/** The part of the engine that is about schemas. */
export type SchemaCalls = Pick<
  Engine,
  | 'readSchema'
  | 'applySchema'
  | 'lockNamespace'
  | 'unlockNamespace'
  | 'listQuarantine'
  | 'restoreQuarantine'
  | 'purgeQuarantine'
  | 'transfer'
>;

export interface SchemaCallOptions {
  readonly sessions: Sessions;
  /** Of the server; asked for inside a session only, when it is known. */
  readonly flavour: () => Flavour;
  readonly log: EngineLog;
}

/** What a change that was cut off may take to its end, like a sync whose caller is gone. */
const REPAIR_TIMEOUT_MS = 3_600_000;
/** Before its own deadline a reader of the schema stops waiting for that. */
const READER_MARGIN_MS = 500;

export function createSchemaCalls(options: SchemaCallOptions): SchemaCalls {
  const { sessions, flavour, log } = options;
  const toolsOf = (session: Session): SchemaTools => {
    const connection = new SchemaConnection(unprepared(session), schemaDialect(flavour()));
    return { connection, flavour: flavour(), log };
  };
  const repairs = new Repairs((namespace, bounds) =>
    sessions.write(bounds, (session) => {
      const tools = toolsOf(session);
      return inTurn(tools.connection, namespace, () => finishPending(tools, namespace));
    }),
  );
  const readOnce = (namespace: string, bounds: CallBounds) =>
    sessions.read(bounds, (session) => readRow(toolsOf(session).connection, namespace));
  return {
    async readSchema(namespace, bounds) {
      let row = await readOnce(namespace, bounds);
      if (row !== null && row.pending !== null) {
        await repairs.wait(namespace, bounds.deadline - READER_MARGIN_MS);
        row = await readOnce(namespace, bounds);
      }
      if (row === null) return null;
      return row.pending === null ? row.stored : unfinished(row);
    },
    async applySchema(change, bounds) {
      if (change.dryRun) await sessions.read(bounds, (session) => checkSchema(toolsOf(session).connection, change));
      else await sessions.write(bounds, (session) => applySchema(toolsOf(session), change));
    },
    lockNamespace: (namespace, owner, now, bounds) =>
      sessions.write(bounds, (session) => lockNamespace(toolsOf(session).connection, namespace, owner, now)),
    unlockNamespace: (namespace, owner, bounds) =>
      sessions.write(bounds, (session) => unlockNamespace(toolsOf(session).connection, namespace, owner)),
    listQuarantine: (namespace, bounds) =>
      sessions.read(bounds, async (session) => {
        const rows = await quarantineRows(toolsOf(session).connection, namespace);
        return rows.map(({ object }) => object);
      }),
    restoreQuarantine: (id, now, bounds) =>
      sessions.write(bounds, (session) => restoreQuarantine(toolsOf(session), id, now)),
    purgeQuarantine: (id, bounds) => sessions.write(bounds, (session) => purgeQuarantine(toolsOf(session), id)),
    transfer: createMysqlTransfer(options, toolsOf),
  };
}

/** Without parameters by the text protocol: schema statements and locks of tables cannot all be prepared. */
function unprepared(session: Session): Session {
  return {
    deadline: session.deadline,
    query: (text, params = []) => (params.length === 0 ? session.query(text) : session.query(text, params)),
    prepared: (text, params) => session.prepared(text, params),
    stream: (text, params, take) => session.stream(text, params, take),
  };
}

/**
 * Changes that were cut off, being finished for whoever reads the schema next: one attempt a namespace at a time, which
 * goes on when its reader's time is over.
 */
class Repairs {
  readonly #repair: (namespace: string, bounds: CallBounds) => Promise<void>;
  readonly #running = new Map<string, Promise<void>>();

  constructor(repair: (namespace: string, bounds: CallBounds) => Promise<void>) {
    this.#repair = repair;
  }

  /** Resolves when the attempt has ended, however it did, or at `until` (`performance.now()` milliseconds). */
  async wait(namespace: string, until: number): Promise<void> {
    const { promise: isLate, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, Math.max(0, until - performance.now()));
    try {
      await Promise.race([this.#attempt(namespace), isLate]);
    } finally {
      clearTimeout(timer);
    }
  }

  #attempt(namespace: string): Promise<void> {
    const running = this.#running.get(namespace);
    if (running !== undefined) return running;
    const attempt = this.#repair(namespace, { deadline: performance.now() + REPAIR_TIMEOUT_MS })
      .catch(() => {
        // Somebody else is at it, or the log of the sessions tells what is wrong; the next reader tries again.
      })
      .finally(() => this.#running.delete(namespace));
    this.#running.set(namespace, attempt);
    return attempt;
  }
}
