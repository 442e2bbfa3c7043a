import type { BackupDesk } from '../backup/backup-desk.ts';
import type { SidecarConfig } from '../config/load-config.ts';
import type { CallWatch } from '../data/call-watch.ts';
import type { createDataHandlers } from '../data/handlers.ts';
import type { Engine } from '../engine/engine.ts';
import type { KeeperLink } from '../keeper/channel/keeper-link.ts';
import type { LogSink, LogTap } from '../log.ts';
import type { SchemaCatalog } from '../schema/catalog.ts';
import type { NamespaceGate } from '../schema/gate.ts';
import type { createSchemaHandlers } from '../schema/handlers.ts';
import type { WriteBuffer } from '../write-behind/write-buffer.ts';
import type { Box } from './shapes/cluster.ts';

/** Parts of the sidecar that the panel uses. */
export interface PanelBase {
  readonly config: SidecarConfig;
  readonly engine: Engine;
  readonly catalog: SchemaCatalog;
  /** Handlers of the signed API's operations. */
  readonly handlers: ReturnType<typeof createDataHandlers> & ReturnType<typeof createSchemaHandlers>;
  readonly gate: NamespaceGate;
  readonly backups: BackupDesk;
  /** Every call that the API answers. */
  readonly calls: CallWatch;
  /** null if write-behind is off. */
  readonly writeBuffer: WriteBuffer | null;
  /** Sidecars of the database. */
  readonly neighbours: { own(): Box; others(): readonly Box[] };
  /** Address of the API; null until it listens. */
  readonly apiAddress: () => string | null;
  /** The keeper that started this sidecar; null without one. */
  readonly keeper?: KeeperLink | null;
  /** A game server has started this sidecar. */
  readonly isEmbedded?: boolean;
  readonly log: LogSink;
  /** Log of the rest of the sidecar. */
  readonly apiLog?: LogTap;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Milliseconds that never go back, for limits of attempts. */
  readonly monotonicNow: () => number;
}
