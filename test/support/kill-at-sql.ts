import { existsSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { watchSql } from './watch-sql.ts';

/**
 * Preloaded into a sidecar under test (`preloads.ts`): kills it by SIGKILL, and none of the commands that it
 * starts, before a statement of SQLite that begins with the text in the file that `KILL_FILE` names.
 */

const file = process.env.KILL_FILE ?? '';
// A thread has arguments of its own, so those of the process are read.
const isCommand = readFileSync('/proc/self/cmdline', 'utf8').includes('\0backup\0');

if (!isCommand) {
  watchSql(({ sql }, run) => {
    if (existsSync(file) && sql.startsWith(readFileSync(file, 'utf8'))) process.kill(process.pid, 'SIGKILL');
    return run();
  });
}
