import type { Engine } from '../engine/engine.ts';
import { patiently, statementBounds } from '../moving/patience.ts';
import { tablePlace } from '../moving/place.ts';
import { storedSchema } from '../moving/revision.ts';
import type { TableRows } from './manifest.ts';

/** Rows of a table in a backup and in the database; null if it is not there. */
export interface PreviewTable {
  readonly namespace: string;
  readonly table: string;
  readonly rowsThen: number | null;
  readonly rowsNow: number | null;
}

/** Tables of the backup's namespaces, those that came later too. */
export async function countNow(engine: Engine, then: readonly TableRows[]): Promise<PreviewTable[]> {
  const preview: PreviewTable[] = [];
  for (const namespace of new Set(then.map((one) => one.namespace))) {
    const stored = await storedSchema(engine, namespace);
    const now = new Map<string, number>();
    for (const table of stored?.schema.tables ?? []) {
      if (stored === null) continue;
      const { target } = tablePlace(stored, table);
      now.set(table.name, Number(await patiently(() => engine.count(target, null, statementBounds()))));
    }
    const old = new Map(then.filter((one) => one.namespace === namespace).map(({ table, rows }) => [table, rows]));
    for (const table of new Set([...old.keys(), ...now.keys()])) {
      preview.push({ namespace, table, rowsThen: old.get(table) ?? null, rowsNow: now.get(table) ?? null });
    }
  }
  return preview;
}
