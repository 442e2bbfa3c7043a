import fs, { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname } from 'node:path';
import process from 'node:process';
import { fillDisk, fillFiles, fillNames } from '#scripts/servers/small-disk.ts';

/**
 * Preloaded into a program under test and its threads (`preloads.ts`): fills the small disk at `FILL_FOLDER` for
 * real before one call that writes to it. `KILL_FILE` holds a `Filling`; as long as it is absent nothing is filled.
 */
export interface Filling {
  /** Name of the function and what the path has, such as `writeSync goods`: the first such call. */
  readonly before: string;
  /** `short`: a last block is left, so that a write ends in its middle. `names`: also the folder that a rename leads to. */
  readonly kind: 'bytes' | 'short' | 'files' | 'names';
}

const BLOCK_BYTES = 4096;
const file = process.env.KILL_FILE ?? '';
const folder = process.env.FILL_FOLDER ?? '';
/** Paths of open files on the disk. */
const opened = new Map<unknown, string>();
let isFilling = false;

/** @param to path that a rename leads to */
function pass(name: string, path: string, to: string): void {
  if (isFilling || !path.startsWith(`${folder}/`) || !existsSync(file)) return;
  const { before, kind } = JSON.parse(fs.readFileSync(file, 'utf8')) as Filling;
  const [wanted, part = ''] = before.split(' ');
  if (name !== wanted || !path.includes(part)) return;
  isFilling = true;
  fs.rmSync(file);
  if (kind === 'files') fillFiles(folder);
  else if (kind === 'names') fillNames(folder, dirname(to));
  else fillDisk(folder, kind === 'short' ? BLOCK_BYTES : 0);
  isFilling = false;
}

/** @param pathOf the path that the call writes */
function watch(holder: object, name: string, pathOf: (rest: unknown[]) => unknown): void {
  const original = Reflect.get(holder, name) as (...rest: unknown[]) => unknown;
  Reflect.set(holder, name, (...rest: unknown[]) => {
    const path = String(pathOf(rest));
    pass(name, path, String(rest[1]));
    const result = Reflect.apply(original, holder, rest);
    if (name === 'openSync') opened.set(result, path);
    if (name === 'open') (result as Promise<object>).then((handle) => watchHandle(handle, path)).catch(() => {});
    return result;
  });
}

function watchHandle(handle: object, path: string): void {
  for (const name of ['write', 'writeFile']) watch(handle, name, () => path);
}

for (const name of ['mkdirSync', 'renameSync', 'openSync']) watch(fs, name, ([path]) => path);
watch(fs, 'copyFileSync', ([, path]) => path);
watch(fs, 'writeSync', ([descriptor]) => opened.get(descriptor));
for (const name of ['mkdir', 'open']) watch(fs.promises, name, ([path]) => path);
syncBuiltinESMExports();
