import type { EngineLog } from '../engine/log.ts';
import { LOG_EVENT } from '../log-event.ts';
import type { MadeAndSent } from './make-backup.ts';
import type { DrillResult } from './remote/drill-book.ts';

/** Lines of the log about backups, asked for by an account or made by the clock: notices are made of them. */
export function tellMade(log: EngineLog, { path, rows, bytes, removed }: MadeAndSent): void {
  log('info', 'backup made', { event: LOG_EVENT.backupMade, path, rows, bytes, deleted: removed.join(', ') });
}

/** @param message what the owner has to know; the cause is added */
export function tellNotMade(log: EngineLog, message: string, cause: string): void {
  log('error', message, { event: LOG_EVENT.backupFailed, cause });
}

export function tellFailedDrill(log: EngineLog, { error, backup }: DrillResult): void {
  const facts = { event: LOG_EVENT.drillFailed, cause: error ?? '', backup: backup ?? 'none' };
  log('error', 'a drill of the backups has failed: do not rely on them', facts);
}
