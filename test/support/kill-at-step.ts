import fs, { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import process from 'node:process';
import { isMainThread } from 'node:worker_threads';
import { watchSql } from './watch-sql.ts';

/**
 * Preloaded into the keeper, and so into everything below it (`preloads.ts`): sends a signal to one of these
 * programs at one step of an update of the panel. `KILL_FILE` holds a `Step`, and comes whole (by a rename). The file is gone when
 * the step was reached; as long as it is absent nothing happens.
 */
export interface Step {
  /** `release`: the sidecar of a release that was unpacked. */
  readonly in: 'keeper' | 'sidecar' | 'release';
  /** Pattern of the step's name, such as `before rename .*keeper\.json`; a rename's name ends with the text that was written last. */
  readonly at: string;
  readonly signal: 'SIGKILL' | 'SIGSTOP';
}

const file = process.env.KILL_FILE ?? '';
const program = programOf(readFileSync('/proc/self/cmdline', 'utf8').split('\0'));
const { rmSync, renameSync, writeFileSync } = fs;

function programOf(words: readonly string[]): Step['in'] | null {
  const main = words.find((word) => /\.[jt]s$/.test(word)) ?? '';
  if (words.includes('--preflight')) return null;
  if (/quick-keeper\.[jt]s$/.test(main)) return 'keeper';
  if (!/\bmain\.[jt]s$/.test(main)) return null;
  return main.includes('/data/releases/') ? 'release' : 'sidecar';
}

/** Null if there is none. Another program may remove the file at this very moment. */
function wanted(): Step | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Step;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function pass(name: string): void {
  const step = wanted();
  // Several messages may be read in one piece, a line each.
  if (step?.in !== program || !new RegExp(step.at, 's').test(name)) return;
  rmSync(file);
  process.kill(process.pid, step.signal);
}

/** Its messages to the other end of the channel, and those that it receives. */
function watchChannel(): void {
  const { write, emit } = Socket.prototype;
  Socket.prototype.write = function watched(this: Socket, ...rest: unknown[]) {
    pass(`before write ${rest[0]}`);
    const result = Reflect.apply(write, this, rest) as boolean;
    pass(`after write ${rest[0]}`);
    return result;
  } as Socket['write'];
  Socket.prototype.emit = function watched(this: Socket, ...rest: unknown[]) {
    if (rest[0] === 'data') pass(`read ${rest[1]}`);
    return Reflect.apply(emit, this, rest) as boolean;
  } as Socket['emit'];
}

function watchFiles(): void {
  let written = '';
  fs.writeFileSync = (target, data, ...rest) => {
    written = String(data).replaceAll(/\s+/g, ' ');
    writeFileSync(target, data, ...rest);
  };
  fs.renameSync = (from, to) => {
    pass(`before rename ${to} ${written}`);
    renameSync(from, to);
    pass(`after rename ${to} ${written}`);
  };
  syncBuiltinESMExports();
}

if (program !== null && isMainThread) {
  pass('start');
  watchChannel();
  watchFiles();
  watchSql(({ sql, values }, run) => {
    pass(`before ${sql} ${JSON.stringify(values)}`);
    const result = run();
    pass(`after ${sql} ${JSON.stringify(values)}`);
    return result;
  });
}
