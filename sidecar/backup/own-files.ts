import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { readConfigText } from '../config/load-config.ts';
import { withoutSecrets } from '../config/portable-config.ts';
import { isFullFile } from '../full-disk.ts';
import { CONFIGURATION, PANEL } from './manifest.ts';

/** Files of the sidecar's own that a backup holds beside the database. */
export interface OwnFiles {
  /** sidecar.json. */
  readonly config: string;
  /** `panel.sqlite`, which need not be there. */
  readonly panel: string;
}

/**
 * Copies both into the folder of a backup. Returns the names of those that are there: a panel that cannot be read must not
 * stop the backup of the rows.
 */
export function copyOwnFiles(
  { config, panel }: OwnFiles,
  folder: string,
  say: (line: string) => void,
): (typeof PANEL | typeof CONFIGURATION)[] {
  writeFileSync(join(folder, CONFIGURATION), withoutSecrets(readConfigText(config)), { mode: 0o600, flag: 'wx' });
  if (!existsSync(panel)) return [CONFIGURATION];
  const copy = join(folder, PANEL);
  try {
    copySqlite(panel, copy);
    return [CONFIGURATION, PANEL];
  } catch (error) {
    if (isFullFile(error)) throw error;
    rmSync(copy, { force: true });
    const fault = `${panel} cannot be read (${(error as Error).message})`;
    say(
      `warning: the accounts and settings of the panel are not in the backup: ${fault}; main.js accounts list says what to do`,
    );
    return [CONFIGURATION];
  }
}

/** The file as it is at one moment, without pages of deleted rows; its owner may write meanwhile. */
function copySqlite(from: string, to: string): void {
  const database = new Sqlite(from, { readonly: true, fileMustExist: true, timeout: 5000 });
  try {
    database.prepare('VACUUM INTO ?').run(to);
  } finally {
    database.close();
  }
}
