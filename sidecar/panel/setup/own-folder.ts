import { existsSync, lstatSync, mkdirSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isWithin } from '../settings/server-root.ts';
import { InstallRefused } from './install-refused.ts';

/** The folder of the game server while things are put into it: nothing leaves it, and what was made can be taken back. */
export class OwnFolder {
  readonly root: string;
  readonly #undo: (() => void)[] = [];

  constructor(root: string) {
    this.root = root;
  }

  /** Makes the folder itself, and what is missing above it. */
  makeRoot(): void {
    const first = mkdirSync(this.root, { recursive: true });
    if (first === undefined) return;
    const made: string[] = [];
    for (let folder = this.root; isWithin(first, folder); folder = dirname(folder)) made.unshift(folder);
    for (const folder of made) this.#undo.push(() => rmdirSync(folder));
  }

  /** A folder directly below the root, made where it is missing. A link is followed only where it stays within. */
  folder(name: string): string {
    const path = join(this.root, name);
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) {
      mkdirSync(path);
      this.#undo.push(() => rmdirSync(path));
      return path;
    }
    return this.within(path, 'folder');
  }

  /** `path` itself, with its links resolved. @throws InstallRefused where it is no such thing, or leads out */
  within(path: string, kind: 'folder' | 'file'): string {
    let real: string;
    try {
      real = realpathSync(path);
    } catch {
      throw new InstallRefused(`${path} is a link that leads nowhere`);
    }
    if (!isWithin(realpathSync(this.root), real)) {
      throw new InstallRefused(`${path} is a link that leads out of the server folder`);
    }
    const found = lstatSync(real);
    if (kind === 'folder' ? !found.isDirectory() : !found.isFile()) throw new InstallRefused(`${path} is no ${kind}`);
    return real;
  }

  /** A place beside `target` where it is made ready. The dot keeps servers from reading it; a crash's leftovers go. */
  stagingFor(target: string, name: string): string {
    const staged = join(dirname(target), `.installing-${name}`);
    rmSync(staged, { recursive: true, force: true });
    this.#undo.push(() => rmSync(staged, { recursive: true, force: true }));
    return staged;
  }

  /** Takes back, last first, what is still only prepared: a folder that holds something by now stays. */
  takeBack(): void {
    for (const step of this.#undo.reverse()) {
      try {
        step();
      } catch {
        // Somebody has put something there, or it is in use: not ours to remove.
      }
    }
  }
}

/** Whether anything has this name, a link that leads nowhere included. */
export function isThere(path: string): boolean {
  return existsSync(path) || lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
