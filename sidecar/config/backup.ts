import { resolve } from 'node:path';
import * as z from 'zod';
import { type RemoteConfig, readRemote, remoteSection } from './backup-remote.ts';
import { ConfigError } from './config-error.ts';
import { flag, integer, listOf, rule, text } from './rules.ts';

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
  remote: remoteSection.nullable().default(null),
  encryptTo: listOf('age recipients such as "age1…"', isRecipient).default([]),
  identityFile: text('the path of a file').nullable().default(null),
  secrets: flag().default(false),
  continuous: z
    .strictObject({
      program: text('the path or name of a program').default('litestream'),
      allowClear: flag().default(false),
    })
    .nullable()
    .default(null),
  drill: z
    .strictObject({ everyDays: integer(1, 366).default(7) })
    .nullable()
    .default(null),
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
  /** Second place of the backups, off this machine; null for none. */
  readonly remote: RemoteConfig | null;
  /** Public keys of age; with any, nothing leaves the machine in the clear. */
  readonly encryptTo: readonly string[];
  /** Absolute path of the key that opens encrypted backups; null if it is kept elsewhere. */
  readonly identityFile: string | null;
  /** Whether encrypted backups off the machine also hold the secrets. */
  readonly secrets: boolean;
  /** Program that copies each write of SQLite to the second place within seconds; null for none. */
  readonly continuous: { readonly program: string } | null;
  /** How often the newest backup off the machine is tried out; null for never. */
  readonly drill: { readonly everyDays: number } | null;
}

type BackupSection = z.output<typeof backupSection>;

/** @throws ConfigError */
export function readBackup(section: BackupSection, base: string): BackupConfig {
  const { folder, keep, encryptTo, identityFile, secrets, drill } = section;
  if (secrets && encryptTo.length === 0) {
    throw new ConfigError('backup.secrets: expected backup.encryptTo beside it, as secrets never leave in the clear');
  }
  if (drill !== null && section.remote === null) {
    throw new ConfigError('backup.drill: expected backup.remote beside it, as drills are of backups there');
  }
  return {
    ...{ folder: resolve(base, folder), schedule: scheduleOf(section), keep, encryptTo, secrets, drill },
    continuous: readContinuous(section),
    remote: section.remote === null ? null : readRemote(section.remote, base),
    identityFile: identityFile === null ? null : resolve(base, identityFile),
  };
}

function readContinuous({ continuous, remote, encryptTo }: BackupSection): BackupConfig['continuous'] {
  if (continuous === null) return null;
  if (remote === null) throw new ConfigError('backup.continuous: expected backup.remote beside it, got none');
  if (encryptTo.length > 0 && !continuous.allowClear) {
    throw new ConfigError(
      'backup.continuous: Litestream does not encrypt, and backup.encryptTo is set; set backup.continuous.allowClear to true if the rows may lie there in the clear',
    );
  }
  return { program: continuous.program };
}

function scheduleOf({ everyHours, at }: BackupSection): BackupSchedule | null {
  if (everyHours !== undefined && at !== undefined) {
    throw new ConfigError('backup: expected everyHours or at, got both');
  }
  if (everyHours !== undefined) return { kind: 'every', hours: everyHours };
  if (at === undefined) return null;
  const [hour = 0, minute = 0] = at.split(':').map(Number);
  return { kind: 'daily', hour, minute };
}

/** The form alone: its checksum is read by the library, with the first use. */
function isRecipient(value: string): boolean {
  return /^age1[a-z0-9]{10,4000}$/.test(value);
}
