import { type Log, traceOf } from '../log.ts';
import { Charts, type WatchedServer } from './charts/charts.ts';
import { createDatabase } from './database/create-database.ts';
import type { PanelBase } from './panel-base.ts';
import type { PanelStore } from './store/panel-store.ts';

interface WatcherParts {
  readonly store: PanelStore;
  readonly log: Log;
  readonly server: WatchedServer;
  /** Of a game server that the panel does not run. */
  readonly serverPid: number | null;
}

/** What looks at the database, the API and the game server. `charts` and `keyUse` close before the store. */
export function createWatchers(base: PanelBase, { store, log, server, serverPid }: WatcherParts) {
  const { config, calls, now } = base;
  const onTrouble = troubleTeller(log);
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

const TELL_AGAIN_MS = 600_000;

/** A full disk fails every ten seconds: it is told now and then. */
function troubleTeller(log: Log): (error: unknown) => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (performance.now() - toldAt < TELL_AGAIN_MS) return;
    toldAt = performance.now();
    const { code } = error as { readonly code?: unknown };
    const cause = typeof code === 'string' ? code : traceOf(error);
    log.warn("the panel's file takes nothing, so charts and the last use of keys have gaps; is the disk full?", {
      cause,
    });
  };
}
