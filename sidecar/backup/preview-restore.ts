import { ApiError } from '#protocol/errors.ts';
import type { Engine } from '../engine/engine.ts';
import { tablePlace } from '../moving/place.ts';
import { MoveRefused } from '../moving/report.ts';
import type { TableRows } from './manifest.ts';

/** Rows of a table in a backup and in the database; null if it is not there. */
export interface PreviewTable {
  readonly namespace: string;
  readonly table: string;
  readonly rowsThen: number | null;
  readonly rowsNow: number | null;
}

/** A person waits for it: a count of a large table may take as long, a database that is away is asked once. */
const COUNT_MS = 60_000;

/** Tables of the backup's namespaces, those that came later too. @throws MoveRefused if the database is away */
export async function countNow(engine: Engine, then: readonly TableRows[]): Promise<PreviewTable[]> {
  try {
    return await countAll(engine, then);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new MoveRefused(
      `the present rows cannot be counted: ${error.message}; open the backup again when the database answers`,
    );
  }
}

async function countAll(engine: Engine, then: readonly TableRows[]): Promise<PreviewTable[]> {
  const bounds = () => ({ deadline: performance.now() + COUNT_MS });
  const preview: PreviewTable[] = [];
  for (const namespace of new Set(then.map((one) => one.namespace))) {
    const stored = await engine.schemas.readSchema(namespace, bounds());
    const now = new Map<string, number>();
    for (const table of stored?.schema.tables ?? []) {
      if (stored === null) continue;
      const { target } = tablePlace(stored, table);
      now.set(table.name, Number(await engine.count(target, null, bounds())));
    }
    const old = new Map(then.filter((one) => one.namespace === namespace).map(({ table, rows }) => [table, rows]));
    for (const table of new Set([...old.keys(), ...now.keys()])) {
      preview.push({ namespace, table, rowsThen: old.get(table) ?? null, rowsNow: now.get(table) ?? null });
    }
  }
  return preview;
}
