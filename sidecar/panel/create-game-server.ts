import { statSync } from 'node:fs';
import { join } from 'node:path';
import { PROGRAM_FOLDER } from '#sidecar/program-folder.ts';
import type { AuditLog } from './audit/audit-log.ts';
import type { PanelBase } from './panel-base.ts';
import type { PanelLogs } from './panel-logs.ts';
import { GameServer } from './server/game-server.ts';
import type { PanelSettings } from './settings/panel-settings.ts';
import type { PanelStore } from './store/panel-store.ts';
import type { StoreTrouble } from './store-trouble.ts';

export interface GameServerBase {
  readonly base: PanelBase;
  readonly store: PanelStore;
  readonly trouble: StoreTrouble;
  readonly settings: PanelSettings;
  readonly logs: PanelLogs;
  readonly audit: AuditLog;
  /** Configuration folder of a standalone server that the start presets. */
  readonly serverVfs: string | null;
}

/** The game server on this machine, connected to the rest of the panel. */
export function createGameServer({
  base,
  store,
  trouble,
  settings,
  logs,
  audit,
  serverVfs,
}: GameServerBase): GameServer {
  const { config, now } = base;
  return new GameServer({
    ...{ store, trouble, settings, now, console: logs.console },
    latestActions: (count) => latestActions(audit, count),
    standalone: { program: findStandaloneProgram(), vfs: serverVfs },
    keeper: base.keeper ?? null,
    environment: process.env,
    secretVariables: config.secretVariables,
  });
}

/** Latest actions of accounts; the audit log also has attempts without an account. */
function latestActions(audit: AuditLog, count: number) {
  const entries = audit.page(null, 10 * count);
  return entries
    .filter(({ username }) => username !== '')
    .slice(0, count)
    .map(({ time, username, action, subject, result }) => ({ time, username, action, subject, result }));
}

/** In the built sidecar's folder (as its package has it), in the sources, or beside the built sidecar. */
function findStandaloneProgram(): string | null {
  const places = ['standalone/main.js', 'standalone/main.ts', '../standalone/main.js'];
  const files = places.map((place) => join(PROGRAM_FOLDER, place));
  return files.find((file) => statSync(file, { throwIfNoEntry: false })?.isFile()) ?? null;
}
