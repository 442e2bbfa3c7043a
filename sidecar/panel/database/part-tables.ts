import { MAIN_PART } from '#protocol/schema.ts';
import type { createSchemaHandlers } from '#sidecar/schema/handlers.ts';
import { type PartView, partViews } from '#sidecar/schema/parts.ts';
import type { Quarantine } from '#sidecar/schema/quarantine.ts';
import { PanelError } from '../panel-error.ts';
import type { PartTable } from '../shapes/bundles.ts';
import type { DatabaseAccess } from './database-access.ts';
import type { NamespaceList } from './namespace-list.ts';
import { onDatabase } from './refusals.ts';

export interface PartTablesOptions {
  readonly access: DatabaseAccess;
  readonly namespaceList: NamespaceList;
  readonly quarantine: Quarantine;
  readonly extend: ReturnType<typeof createSchemaHandlers>['schema.extend'];
  /** Fate of tables that a sync removes. */
  readonly removed: 'quarantine' | 'drop' | 'deny';
}

/** Deadline of giving a part up, which waits for queued writes and for other syncs. */
const GIVE_UP_MS = 120_000;

/** Tables and columns of a bundle: those that its part of each schema declares. */
export class PartTables {
  readonly #options: PartTablesOptions;

  constructor(options: PartTablesOptions) {
    this.#options = options;
  }

  /** Empty if no schema has such a part. */
  async read(part: string): Promise<PartTable[]> {
    const declared = await this.#declared(part);
    if (declared.length === 0) return [];
    const { namespaces } = await this.#options.namespaceList.read();
    return declared.flatMap(({ namespace, view }) => {
      const rowsOf = (table: string) =>
        namespaces.find(({ name }) => name === namespace)?.tables.find(({ name }) => name === table)?.rows ?? null;
      const own = view.own.map(({ name }) => ({ name: `${namespace}.${name}`, rows: rowsOf(name) }));
      const added = view.added.flatMap(({ name, columns }) =>
        columns.map((column) => ({ name: `${namespace}.${name}.${column.name}`, rows: rowsOf(name) })),
      );
      return [...own, ...added];
    });
  }

  /** @throws PanelError `database.refused` if the part could not be given up now */
  async checkRemovable(part: string): Promise<void> {
    if (this.#options.removed !== 'quarantine') {
      const detail = `schema.removed of sidecar.json is "${this.#options.removed}": data goes to quarantine with "quarantine" only`;
      throw new PanelError('database.refused', { detail });
    }
    for (const { namespace } of await this.#declared(part)) await this.#giveUp(namespace, part, true);
  }

  /** Moves the data to quarantine. Can be repeated. @returns ids in quarantine, of this call */
  async quarantine(part: string): Promise<number[]> {
    const before = new Set((await this.#options.quarantine.list()).map(({ id }) => id));
    const namespaces = (await this.#declared(part)).map(({ namespace }) => namespace);
    for (const namespace of namespaces) await this.#giveUp(namespace, part, false);
    this.#options.namespaceList.forget();
    const after = await this.#options.quarantine.list();
    return after.filter(({ id, namespace }) => !before.has(id) && namespaces.includes(namespace)).map(({ id }) => id);
  }

  async #giveUp(namespace: string, part: string, dryRun: boolean): Promise<void> {
    const deadline = performance.now() + GIVE_UP_MS;
    const payload = { namespace, part, dryRun, schema: { tables: [] } };
    await onDatabase(async () => void (await this.#options.extend(payload, { deadline })));
  }

  #declared(part: string): Promise<{ readonly namespace: string; readonly view: PartView }[]> {
    return onDatabase(async () => {
      if (part === MAIN_PART) return [];
      const { access } = this.#options;
      const { engine } = access.parts;
      const found: { namespace: string; view: PartView }[] = [];
      for (const namespace of await engine.transfer.listNamespaces(access.bounds())) {
        const stored = await engine.schemas.readSchema(namespace, access.bounds());
        const view = stored === null ? undefined : partViews(stored.schema).get(part);
        if (view !== undefined && view.own.length + view.added.length > 0) found.push({ namespace, view });
      }
      return found;
    });
  }
}
