import { type TableSize, unknownSize } from '#engine/engine.ts';
import type { CallBounds } from '#engine/rows.ts';
import type { StoredSchema } from '#engine/schema-calls.ts';
import type { Table } from '#protocol/schema.ts';
import { columnsOf } from '#sidecar/data/table-columns.ts';
import { byName } from '../shapes/by-name.ts';
import type { NamespaceInfo, NamespacesAnswer, TableInfo } from '../shapes/database.ts';
import type { DatabaseAccess } from './database-access.ts';
import { onDatabase } from './refusals.ts';

/** Limit for the sizes of all tables, and for the count of one. */
const SIZES_MS = 3000;
const COUNT_MS = 300;
/** Below this size an estimate is inaccurate, and a count is cheap. */
const COUNTED_ROWS = 20_000;
/** Time that sizes are reused, so that reloads of the page do not count each time. */
const KEPT_MS = 3000;

/** Namespaces and tables with their sizes, read in bounded time. */
export class NamespaceList {
  readonly #access: DatabaseAccess;
  #known: { readonly answer: Promise<NamespacesAnswer>; until: number } | null = null;

  constructor(access: DatabaseAccess) {
    this.#access = access;
  }

  read(): Promise<NamespacesAnswer> {
    const now = performance.now();
    if (this.#known !== null && now < this.#known.until) return this.#known.answer;
    const known = { answer: onDatabase(() => this.#read()), until: Number.POSITIVE_INFINITY };
    this.#known = known;
    known.answer.then(
      () => {
        known.until = performance.now() + KEPT_MS;
      },
      () => {
        known.until = 0;
      },
    );
    return known.answer;
  }

  /** Called after tables were added or removed. */
  forget(): void {
    this.#known = null;
  }

  async #read(): Promise<NamespacesAnswer> {
    const { engine } = this.#access.parts;
    const names = await engine.transfer.listNamespaces(this.#access.bounds());
    const bounds = this.#access.bounds(SIZES_MS);
    const namespaces: NamespaceInfo[] = [];
    for (const name of names) {
      const stored = await engine.schemas.readSchema(name, this.#access.bounds());
      if (stored !== null) namespaces.push(await this.#namespace(stored, bounds));
    }
    return { namespaces: namespaces.sort(byName), provider: engine.provider };
  }

  async #namespace(stored: StoredSchema, bounds: CallBounds): Promise<NamespaceInfo> {
    const { engine, writeBuffer } = this.#access.parts;
    const { namespace, schema, updatedAt } = stored;
    const declared = schema.tables.map(({ name }) => name);
    const sizes = await engine.tableSizes(namespace, declared, bounds).catch(() => declared.map(unknownSize));
    const tables: TableInfo[] = [];
    for (const [index, table] of schema.tables.entries()) {
      const size = await this.#counted(stored, table, sizes[index] ?? unknownSize(table.name), bounds);
      tables.push({ ...size, name: table.name, columns: columnsOf(table).names.length });
    }
    return {
      name: namespace,
      updatedAt,
      isBuffered: writeBuffer?.isBuffered(namespace) ?? false,
      tables: tables.sort(byName),
    };
  }

  /** Counts rows if the database only estimates, and the estimate is small. */
  async #counted(
    { namespace, revision }: StoredSchema,
    table: Table,
    { rows, isEstimate, bytes }: TableSize,
    { deadline }: CallBounds,
  ): Promise<Pick<TableInfo, 'rows' | 'isEstimate' | 'bytes'>> {
    const isWorthIt = rows === null || (isEstimate && rows < COUNTED_ROWS);
    if (!isWorthIt) return { rows, isEstimate, bytes };
    const by = { deadline: Math.min(deadline, performance.now() + COUNT_MS) };
    try {
      const counted = await this.#access.parts.engine.count({ namespace, revision, table }, null, by);
      return { rows: counted, isEstimate: false, bytes };
    } catch {
      // Too many to count in time, so the estimate was outdated.
      return { rows: null, isEstimate: false, bytes };
    }
  }
}
