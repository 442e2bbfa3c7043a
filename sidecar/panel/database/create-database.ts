import type { EngineLog } from '#engine/log.ts';
import type { CallWatch } from '#sidecar/data/call-watch.ts';
import { Quarantine } from '#sidecar/schema/quarantine.ts';
import type { PanelStore } from '../store/panel-store.ts';
import { DatabaseAccess, type DatabaseParts } from './database-access.ts';
import { HealthWatch } from './health-watch.ts';
import { type ConfiguredKey, KeyUse } from './key-use.ts';
import { NamespaceList } from './namespace-list.ts';
import { PartTables, type PartTablesOptions } from './part-tables.ts';
import { QuarantineDesk } from './quarantine-desk.ts';
import { QueueDesk } from './queue-desk.ts';
import { RowEdit } from './row-edit.ts';
import { RowExchange } from './row-exchange.ts';
import { SlowCalls } from './slow-calls.ts';
import { TableRows } from './table-rows.ts';

export interface DatabaseServicesOptions extends DatabaseParts {
  readonly store: PanelStore;
  /** Folder for files of rows that arrive. */
  readonly importFolder: string;
  readonly calls: CallWatch;
  readonly keys: readonly ConfiguredKey[];
  readonly maxPending: number;
  readonly log: EngineLog;
  /** The operation of the signed API. */
  readonly extend: PartTablesOptions['extend'];
  readonly removed: PartTablesOptions['removed'];
  /** Called if data of the panel could not be written. */
  readonly onTrouble: (error: unknown) => void;
}

/** Services of the database pages. `keyUse` and `health` must be closed. */
export function createDatabase(options: DatabaseServicesOptions) {
  const { store, calls, keys, maxPending, log, now, onTrouble, extend, removed } = options;
  const access = new DatabaseAccess(options);
  const namespaceList = new NamespaceList(access);
  const quarantine = new Quarantine({ engine: options.engine, now, log });
  const slowCalls = new SlowCalls(now);
  const keyUse = new KeyUse(store, keys, { now, onTrouble });
  calls.onCall((call) => {
    slowCalls.saw(call);
    keyUse.saw(call);
  });
  return {
    ...{ namespaceList, slowCalls, keyUse },
    health: new HealthWatch(options),
    tableRows: new TableRows(access),
    rowEdit: new RowEdit(access),
    rowExchange: new RowExchange(access, options.importFolder),
    queueDesk: new QueueDesk(access, maxPending),
    quarantineDesk: new QuarantineDesk({ access, log, onChange: () => namespaceList.forget() }),
    partTables: new PartTables({ access, namespaceList, quarantine, extend, removed }),
  };
}

export type DatabaseServices = ReturnType<typeof createDatabase>;
