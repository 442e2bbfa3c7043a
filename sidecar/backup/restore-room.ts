import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SidecarConfig } from '../config/load-config.ts';
import { isOneDisk, needSpace } from '../moving/free-space.ts';
import { CONTAINER, type Manifest, rowsOf } from './manifest.ts';

export interface RestoreSize {
  /** A complete backup. */
  readonly backup: string;
  readonly config: Pick<SidecarConfig, 'dataFolder' | 'database'>;
  /** Empty: all that the backup has. */
  readonly namespaces: readonly string[];
  readonly replace: boolean;
}

/** Room for the copy that is read, and for the rows if the database is a file. @throws MoveRefused before anything is changed */
export function needRestoreRoom(size: RestoreSize, manifest: Manifest): void {
  const { dataFolder, database } = size.config;
  const copy = statSync(join(size.backup, CONTAINER)).size;
  const grown = database.provider === 'sqlite' ? growthOf(database.file, copy, size, manifest) : 0;
  const folder = database.provider === 'sqlite' ? dirname(database.file) : dataFolder;
  if (isOneDisk(folder, dataFolder)) {
    needSpace(dataFolder, copy + grown, 'the restore');
    return;
  }
  needSpace(dataFolder, copy, 'the copy of the backup that is restored');
  needSpace(folder, grown, 'the restored database');
}

/** Rows that are replaced leave their room to the new ones. */
function growthOf(file: string, copy: number, { namespaces, replace }: RestoreSize, manifest: Manifest): number {
  const chosen = manifest.namespaces.filter(({ name }) => namespaces.length === 0 || namespaces.includes(name));
  const share = rowsOf({ namespaces: chosen }) / Math.max(1, rowsOf(manifest));
  const there = replace && existsSync(file) ? statSync(file).size : 0;
  return Math.max(0, Math.ceil(copy * share) - there);
}
