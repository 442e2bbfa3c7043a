import { MoveRefused } from '../../moving/report.ts';
import type { RemoteBackup } from './remote-backups.ts';

export interface BackupChoice {
  /** Epoch milliseconds: the newest that is not newer; null for the newest of all. */
  readonly at: number | null;
  /** ID8 that the owner names; null for none. */
  readonly installation: string | null;
}

/**
 * The backup to take from a place that several installations may share. Without a name it is `own`'s if it has any, else those of the
 * only installation there is. @throws MoveRefused that lists what there is
 */
export function chooseBackup(all: readonly RemoteBackup[], choice: BackupChoice, own: string): RemoteBackup {
  const installations = [...new Set(all.map(({ installation }) => installation))];
  const [only = null] = installations.length === 1 ? installations : installations.filter((id) => id === own);
  const wanted = choice.installation ?? only;
  if (wanted === null && installations.length > 1) {
    throw new MoveRefused(
      `there are backups of several installations (${installations.join(', ')}): choose one with --installation; --list shows them`,
    );
  }
  const mine = all.filter(({ installation }) => installation === wanted);
  const latest = mine.filter(({ time }) => choice.at === null || time <= choice.at).at(-1);
  if (latest !== undefined) return latest;
  const first = mine[0];
  if (first === undefined) throw new MoveRefused('there is no backup; --list shows what is there');
  throw new MoveRefused(
    `the oldest backup is of ${new Date(first.time).toISOString()}, which is later; --list shows them`,
  );
}
