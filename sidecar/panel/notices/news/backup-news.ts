import { basename } from 'node:path';
import { LOG_EVENT } from '#sidecar/log-event.ts';
import type { News } from '../news.ts';

/** Most lines of the log are requests, which are not parsed. */
const OF_BACKUPS = /"event":"(?:backup-made|backup-failed|drill-failed)"/;

/** News that a line of the sidecar's log tells; null: none. */
export function backupNewsOf(line: string): News | null {
  if (!OF_BACKUPS.test(line)) return null;
  const { event, path, bytes, cause } = JSON.parse(line) as Readonly<Record<string, unknown>>;
  switch (event) {
    case LOG_EVENT.backupMade: {
      const name = basename(String(path));
      return { event: 'backup.made', facts: [name, `${bytes} bytes`], data: { name, bytes } };
    }
    case LOG_EVENT.backupFailed:
      return { event: 'backup.failed', ...failed(cause) };
    case LOG_EVENT.drillFailed:
      return { event: 'backup.drillFailed', ...failed(cause) };
    default:
      return null;
  }
}

function failed(cause: unknown): Omit<News, 'event'> {
  const facts = [String(cause)];
  return { facts, data: { cause }, story: facts };
}
