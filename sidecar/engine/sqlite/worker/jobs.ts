import type { ClusterCalls } from '#engine/cluster/cluster-calls.ts';
import type { TableSize } from '#engine/engine.ts';
import { schemaOfText, textOfSchema } from '#engine/model/schema-text.ts';
import type { DeadLetter, QueueCalls } from '#engine/queues.ts';
import type { CallBounds } from '#engine/rows.ts';
import type { PlanStep, SchemaCalls, SchemaChange } from '#engine/schema-calls.ts';
import type { StoredText } from '#engine/sql/schema/store.ts';
import type { KeptObject, NewKeptObject, Transfer } from '#engine/transfer.ts';
import { parseJson, type Writable, writeJson } from '#protocol/json.ts';

type Shared = SchemaCalls & Omit<QueueCalls, 'applyQueue'> & Transfer & ClusterCalls;

/** A `SchemaChange` on its way into a worker. */
export interface SentChange extends Omit<SchemaChange, 'to' | 'steps'> {
  readonly to: string;
  readonly steps: string;
}

/** Jobs whose arguments or results are not those of the engine's call; bounds are always the last argument. */
interface SentCalls {
  readSchema(namespace: string, bounds: CallBounds): Promise<StoredText | null>;
  checkSchema(change: SentChange, bounds: CallBounds): Promise<void>;
  applySchema(change: SentChange, bounds: CallBounds): Promise<void>;
  listLetters(namespace: string | null, limit: number | undefined, bounds: CallBounds): Promise<DeadLetter[]>;
  createKept(kept: NewKeptObject, shape: string, bounds: CallBounds): Promise<KeptObject>;
  version(bounds: CallBounds): Promise<string>;
  tableSizes(namespace: string, tables: readonly string[], budgetMs: number, bounds: CallBounds): Promise<TableSize[]>;
}

/**
 * Calls of the engine that a worker answers with the code of `sql/`. Arguments and results cross the threads as
 * structured clones, in which numbers of a schema would lose their digits: schemas and steps cross as JSON text.
 */
export type Jobs = Omit<Shared, keyof SentCalls> & SentCalls;

/** A new table is a table of the schema that is sent beside it: its name is enough. */
type SentStep = Exclude<PlanStep, { kind: 'createTable' }> | { readonly kind: 'createTable'; readonly table: string };

export function sentChange({ from, to, steps, ...change }: SchemaChange): SentChange {
  const revision = from === null ? null : { revision: from.revision };
  const sent = steps.map(
    (step): SentStep => (step.kind === 'createTable' ? { ...step, table: step.table.name } : step),
  );
  return { ...change, from: revision, to: textOfSchema(to), steps: writeJson(sent as unknown as Writable) };
}

export function receivedChange(change: SentChange): SchemaChange {
  const to = schemaOfText(change.to);
  const tables = new Map(to.tables.map((table) => [table.name, table]));
  // This program has written the text from the very type that it is read as.
  const steps = (parseJson(change.steps) as unknown as SentStep[]).map((step): PlanStep => {
    if (step.kind !== 'createTable') return step;
    const table = tables.get(step.table);
    if (table === undefined) throw new Error(`a new table is not in its schema: ${step.table}`);
    return { ...step, table };
  });
  return { ...change, to, steps };
}
