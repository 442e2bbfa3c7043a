import fs, { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import process from 'node:process';

/**
 * Preloaded into a program under test (`preloads.ts`): kills it by SIGKILL before or after one rename of a path with
 * `KILL_PATHS` in it. The file that `KILL_FILE` names says at which moment; as long as it is absent nothing is counted.
 * `<KILL_FILE>.seen` lists the moments.
 */

const file = process.env.KILL_FILE ?? '';
const part = process.env.KILL_PATHS ?? '/bundles/';
const rename = fs.renameSync;
let passed = 0;

function pass(moment: string): void {
  appendFileSync(`${file}.seen`, `${moment}\n`);
  passed += 1;
  if (passed === Number(readFileSync(file, 'utf8'))) process.kill(process.pid, 'SIGKILL');
}

fs.renameSync = (from, to) => {
  const isCounted = existsSync(file) && `${from} ${to}`.includes(part);
  if (isCounted) pass(`before ${from} → ${to}`);
  rename(from, to);
  if (isCounted) pass(`after ${from} → ${to}`);
};
syncBuiltinESMExports();
