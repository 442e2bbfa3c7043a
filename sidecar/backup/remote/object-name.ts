/** Name of a backup off the machine, taken apart. */
export interface ObjectName {
  /** The whole name, without the prefix of the place. */
  readonly object: string;
  /** Name of the local backup: `backup-TIME`. */
  readonly backup: string;
  /** Epoch milliseconds. */
  readonly time: number;
  /** ID8: eight characters of the id of the installation that made it. */
  readonly installation: string;
  readonly isEncrypted: boolean;
}

const NAME = /^(backup-(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})Z(?:-\d{1,4})?)-([a-z2-7]{8})\.tar\.zst(\.age)?$/;

export function objectName(backup: string, installation: string, isEncrypted: boolean): string {
  return `${backup}-${installation}.tar.zst${isEncrypted ? '.age' : ''}`;
}

/** Null for a name that no backup has. */
export function parseObjectName(object: string): ObjectName | null {
  const [, backup, day, hour, minute, second, installation, encrypted] = NAME.exec(object) ?? [];
  if (backup === undefined || installation === undefined) return null;
  const time = Date.parse(`${day}T${hour}:${minute}:${second}Z`);
  if (!Number.isFinite(time)) return null;
  return { object, backup, time, installation, isEncrypted: encrypted !== undefined };
}

/** Oldest first. Backups of one second are in the order in which they were made. */
export function byTime(a: ObjectName, b: ObjectName): number {
  return (
    a.time - b.time || a.backup.length - b.backup.length || (a.backup < b.backup ? -1 : Number(a.backup > b.backup))
  );
}
