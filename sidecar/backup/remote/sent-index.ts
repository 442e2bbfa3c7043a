import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { BackupConfig } from '../../config/backup.ts';
import { replaceFile } from '../../config/new-file.ts';
import { newestBackup } from '../backup-folder.ts';
import { parseObjectName } from './object-name.ts';

const FILE = 'remote-backups.json';

const entry = z.object({
  object: z.string(),
  rows: z.int().min(0),
  namespaces: z.array(z.string()),
  /** Without those in quarantine. */
  tables: z.array(z.object({ namespace: z.string(), table: z.string(), rows: z.int().min(0) })),
  bytes: z.int().min(0),
  /** SHA-256 of the bytes that were sent. */
  sha256: z.string(),
});
const file = z.object({ sent: z.array(entry) });

/** Facts of a backup off the machine that only its maker knows without opening it. */
export type SentBackup = z.output<typeof entry>;

/** Local index of sent backups. Without it, or with a damaged one, they are still there, and unknown until opened. */
export class SentIndex {
  readonly #file: string;

  constructor(dataFolder: string) {
    this.#file = join(dataFolder, FILE);
  }

  read(): ReadonlyMap<string, SentBackup> {
    try {
      const { sent } = file.parse(JSON.parse(readFileSync(this.#file, 'utf8')));
      return new Map(sent.map((one) => [one.object, one]));
    } catch {
      return new Map();
    }
  }

  add(sent: SentBackup): void {
    this.#write(new Map([...this.read(), [sent.object, sent]]));
  }

  /** Forgets backups that are not there any more. */
  keepOnly(objects: ReadonlySet<string>): void {
    const known = this.read();
    const left = new Map([...known].filter(([object]) => objects.has(object)));
    if (left.size < known.size) this.#write(left);
  }

  #write(entries: ReadonlyMap<string, SentBackup>): void {
    replaceFile(this.#file, `${JSON.stringify({ sent: [...entries.values()] }, null, 2)}\n`, 0o600);
  }
}

/** Whether this installation has ever sent a backup, as far as the index knows. */
export function hasSent({ dataFolder }: { readonly dataFolder: string }): boolean {
  return new SentIndex(dataFolder).read().size > 0;
}

/** Time of the newest backup that this installation has sent, epoch milliseconds; null for none. */
export function newestSent(dataFolder: string): number | null {
  const times = [...new SentIndex(dataFolder).read().keys()].map((object) => parseObjectName(object)?.time ?? 0);
  return times.length === 0 ? null : Math.max(...times);
}

/** Whether the newest local backup was never sent, as far as the index knows. */
export function isNewestUnsent({ backup, dataFolder }: { backup: BackupConfig; dataFolder: string }): boolean {
  const newest = backup.remote === null ? null : newestBackup(backup.folder, Date.now());
  if (newest === null) return false;
  const sent = new SentIndex(dataFolder).read();
  return ![...sent.keys()].some((object) => parseObjectName(object)?.backup === newest.name);
}
