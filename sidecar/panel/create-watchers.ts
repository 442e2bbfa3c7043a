import type { Log } from '../log.ts';
import { Charts, type WatchedServer } from './charts/charts.ts';
import { createDatabase } from './database/create-database.ts';
import type { PanelBase } from './panel-base.ts';
import type { PanelStore } from './store/panel-store.ts';
import type { StoreTrouble } from './store-trouble.ts';

interface WatcherParts {
  readonly store: PanelStore;
  readonly trouble: StoreTrouble;
  readonly log: Log;
  readonly server: WatchedServer;
  /** Of a game server that the panel does not run. */
  readonly serverPid: number | null;
}

/** What looks at the database, the API and the game server. `charts` and `keyUse` close before the store. */
export function createWatchers(base: PanelBase, { store, trouble, log, server, serverPid }: WatcherParts) {
  const { config, calls, now } = base;
  const onTrouble = (error: unknown) => trouble.tell(error, 'charts and the last use of keys have gaps');
  const charts = new Charts({ store, now, server, serverPid, onTrouble });
  calls.onCall(({ ms, code }) => charts.countCall(ms, code !== 'ok'));
  return {
    charts,
    ...createDatabase({
      ...base,
      ...{ store, onTrouble },
      keys: config.keys,
      maxPending: config.writeBehind.maxPending,
      statementTimeoutMs: config.database.statementTimeoutMs,
      log: (level, message, fields) => log[level](message, fields),
    }),
  };
}
