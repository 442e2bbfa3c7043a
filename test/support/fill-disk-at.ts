import fs, { existsSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { fillDisk } from '#scripts/servers/small-disk.ts';
import { watchSql } from './watch-sql.ts';

/**
 * Preloaded into a program under test (`preloads.ts`): another program takes all room of the disk of
 * `FILL_FOLDER` at one moment, so that the next write finds none. The file that `FILL_AT` names holds the moment, `FillAt` as
 * JSON; as long as it is absent nothing is counted.
 */

export interface FillAt {
  /** `check` is a look at the free room; else the beginning of a statement of SQLite. */
  readonly moment: string;
  /** From 1. */
  readonly time: number;
}

const folder = process.env.FILL_FOLDER ?? '';
const at = process.env.FILL_AT ?? '';
let passed = 0;

function pass(moment: string): void {
  const wanted = existsSync(at) ? (JSON.parse(readFileSync(at, 'utf8')) as FillAt) : null;
  if (wanted === null || !moment.startsWith(wanted.moment)) return;
  passed += 1;
  if (passed === wanted.time) fillDisk(folder);
}

const statfs = fs.statfsSync;
fs.statfsSync = ((...args: Parameters<typeof statfs>) => {
  const found = statfs(...args);
  pass('check');
  return found;
}) as typeof statfs;
syncBuiltinESMExports();

watchSql(({ sql }, run) => {
  pass(sql);
  return run();
});
