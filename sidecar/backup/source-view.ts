import { setTimeout as wait } from 'node:timers/promises';
import type { Engine } from '../engine/engine.ts';
import type { EngineLog } from '../engine/log.ts';
import { openEngine } from '../engine/open.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';
import type { DatabaseSettings } from '../engine/settings.ts';
import { readNamespaceQueue, refuseHalfApplied } from '../moving/copy-queue.ts';
import { patiently, statementBounds } from '../moving/patience.ts';
import { MoveRefused, type MoveReport } from '../moving/report.ts';
import { storedSchema } from '../moving/revision.ts';
import { SourceHold } from '../moving/source-hold.ts';
import { readMoveMark } from '../schema/move-mark.ts';

export interface SourceOptions {
  readonly database: DatabaseSettings;
  readonly log: EngineLog;
  readonly report: MoveReport;
  /** A folder of the backup's own. */
  readonly scratch: string;
  /** Runs before the moment that is read. */
  readonly prepare: (engine: Engine) => Promise<void>;
}

type Read<T> = (engine: Engine, stored: readonly StoredSchema[]) => Promise<T>;

/** Records that expire may stay: nothing of a view can be written. */
const NEVER_MS = 2_147_483_647;
/** A sidecar that is cut off in the middle of a queued write goes on with it in a moment. */
const MAX_ATTEMPTS = 5;
const PAUSE_MS = 1000;

/**
 * Lets `read` see the database as it is at one moment, with the schemas of all its namespaces. If the engine has no such
 * view, the namespaces are read-only meanwhile, as for `copy`.
 */
export async function readSource<T>(options: SourceOptions, read: Read<T>): Promise<T> {
  const { database, log } = options;
  const engine = await openEngine(database, { log, now: Date.now });
  try {
    await patiently(() => engine.ping(statementBounds()));
    await options.prepare(engine);
    if (!engine.capabilities.snapshots) return await whileHeld(options, engine, read);
  } finally {
    await engine.close();
  }
  const view = await openEngine(database, {
    ...{ log, now: Date.now, purgeIntervalMs: NEVER_MS },
    snapshot: { folder: options.scratch },
  });
  try {
    return await read(view, await settledSchemas(options, view));
  } finally {
    await view.close();
  }
}

async function settledSchemas(options: SourceOptions, engine: Engine): Promise<StoredSchema[]> {
  const schemas: StoredSchema[] = [];
  for (const namespace of await completeNamespaces(options, engine)) {
    const stored = await storedSchema(engine, namespace);
    if (stored === null) continue;
    if (stored.isUnfinished === true) {
      throw new MoveRefused(
        `the schema of ${namespace} is being changed, or a change of it was cut off, which the next sync ends; run the backup again`,
      );
    }
    schemas.push(stored);
  }
  return schemas;
}

/** Without those that a copy or an import has not finished bringing. */
async function completeNamespaces({ report }: SourceOptions, engine: Engine): Promise<string[]> {
  const all = await patiently(() => engine.transfer.listNamespaces(statementBounds()));
  const complete: string[] = [];
  for (const namespace of all) {
    const mark = await readMoveMark(engine, namespace, Date.now(), statementBounds());
    if (mark?.kind === 'arriving') {
      report.say(`warning: ${namespace} is left out: the ${mark.by} into it has not finished`);
    } else complete.push(namespace);
  }
  return complete;
}

async function whileHeld<T>(options: SourceOptions, engine: Engine, read: Read<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const taken = await takeAll(options, engine);
    try {
      const schemas = taken.map(({ stored }) => stored);
      const halfApplied = attempt < MAX_ATTEMPTS ? await isHalfApplied(engine, schemas) : false;
      if (!halfApplied) {
        for (const stored of schemas) await refuseHalfApplied(engine, stored);
        const result = await read(engine, schemas);
        if (taken.some(({ hold }) => hold.wasLost)) {
          throw new MoveRefused(
            'the database was out of reach for longer than 30 s, so writes may have gone on; run the backup again',
          );
        }
        return result;
      }
    } finally {
      for (const { hold } of taken) await hold.release();
    }
    await wait(PAUSE_MS);
  }
}

async function takeAll(options: SourceOptions, engine: Engine) {
  const taken: Awaited<ReturnType<typeof SourceHold.take>>[] = [];
  try {
    for (const namespace of await completeNamespaces(options, engine)) {
      taken.push(await SourceHold.take(namespace, { engine }));
    }
    return taken;
  } catch (error) {
    for (const { hold } of taken) await hold.release();
    throw error;
  }
}

async function isHalfApplied(engine: Engine, schemas: readonly StoredSchema[]): Promise<boolean> {
  for (const { namespace } of schemas) {
    for (const row of (await readNamespaceQueue(engine, namespace)).rows) {
      if (await patiently(() => engine.transfer.hasHalfApplied(row, statementBounds()))) return true;
    }
  }
  return false;
}
