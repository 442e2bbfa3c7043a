import type { SidecarConfig } from '../config/load-config.ts';
import { newestBackup } from './backup-folder.ts';
import { DrillBook } from './remote/drill-book.ts';
import { newestSent } from './remote/sent-index.ts';

/** Times of backups, epoch milliseconds; null for never. */
export interface BackupState {
  readonly made: number | null;
  readonly sent: number | null;
  readonly drilled: number | null;
  /** Whether the last drill has failed. */
  readonly hasDrillFailed: boolean;
}

const FRESH_MS = 10_000;

/** Reads the state of the backups for /metrics and `health`, at most every ten seconds. */
export function backupStateReader(config: Pick<SidecarConfig, 'backup' | 'dataFolder'>): () => BackupState {
  let state = readState(config);
  let readAt = performance.now();
  return () => {
    if (performance.now() - readAt > FRESH_MS) {
      state = readState(config);
      readAt = performance.now();
    }
    return state;
  };
}

function readState({ backup, dataFolder }: Pick<SidecarConfig, 'backup' | 'dataFolder'>): BackupState {
  const record = new DrillBook(dataFolder).read();
  const success = record?.lastSuccessAt ?? null;
  return {
    made: newestLocal(backup.folder),
    sent: backup.remote === null ? null : newestSent(dataFolder),
    drilled: success === null ? null : Date.parse(success),
    hasDrillFailed: record?.last.ok === false,
  };
}

/** A folder that cannot be read is reported by the backup itself. */
function newestLocal(folder: string): number | null {
  try {
    return newestBackup(folder, Date.now())?.time ?? null;
  } catch {
    return null;
  }
}
