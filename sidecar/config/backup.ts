import { resolve } from 'node:path';
import { z } from 'zod';
import { ConfigError } from './config-error.ts';
import { integer, rule, text } from './rules.ts';

/** `backup` of sidecar.json (docs/backup.md). */
export const backupSection = z.strictObject({
  folder: text('the path of a folder').default('backups'),
  everyHours: integer(1, 8784).optional(),
  at: rule<string>(
    'a time of day such as "04:30"',
    'text',
    (value) => typeof value === 'string' && /^([01]\d|2[0-3]):[0-5]\d$/.test(value),
  ).optional(),
  keep: integer(1, 10_000).default(7),
});

/** When a running sidecar makes backups by itself. */
export type BackupSchedule =
  | { readonly kind: 'every'; readonly hours: number }
  /** Once a day, by the clock of the machine in its own time zone. */
  | { readonly kind: 'daily'; readonly hour: number; readonly minute: number };

/** `backup` as it is used. */
export interface BackupConfig {
  /** Absolute. */
  readonly folder: string;
  /** Null: only on request. */
  readonly schedule: BackupSchedule | null;
  /** Number of scheduled backups that are kept. */
  readonly keep: number;
}

/** @throws ConfigError */
export function readBackup(
  { folder, everyHours, at, keep }: z.output<typeof backupSection>,
  base: string,
): BackupConfig {
  if (everyHours !== undefined && at !== undefined) {
    throw new ConfigError('backup: expected everyHours or at, got both');
  }
  const [hour = 0, minute = 0] = (at ?? '').split(':').map(Number);
  const daily = at === undefined ? null : ({ kind: 'daily', hour, minute } as const);
  const schedule = everyHours === undefined ? daily : ({ kind: 'every', hours: everyHours } as const);
  return { folder: resolve(base, folder), schedule, keep };
}
