import { existsSync, lstatSync, mkdirSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '#sidecar/make-folder.ts';
import { isWithin } from '../settings/server-root.ts';
import { InstallRefused } from './install-refused.ts';

/** The game server's folder during an installation: no path leads out of it, and prepared files can be removed again. */
export class OwnFolder {
  readonly root: string;
  readonly #undo: (() => void)[] = [];

  constructor(root: string) {
    this.root = root;
  }

  /** Creates the folder and its missing parents. */
  makeRoot(): void {
    const first = makeFolder(this.root, 0o777);
    if (first === undefined) return;
    const made: string[] = [];
    for (let folder = this.root; isWithin(first, folder); folder = dirname(folder)) made.unshift(folder);
    for (const folder of made) this.#undo.push(() => rmdirSync(folder));
  }

  /** A folder directly below the root, created if missing. A link must not lead out of the root. */
  folder(name: string): string {
    const path = join(this.root, name);
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) {
      mkdirSync(path);
      this.#undo.push(() => rmdirSync(path));
      return path;
    }
    return this.within(path, 'folder');
  }

  /** `path` with its links resolved. @throws InstallRefused if it is of another kind or leads out of the root */
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

  /** A place beside `target` to prepare it. Servers do not read names with a dot; removes the leftovers of a crash. */
  stagingFor(target: string, name: string): string {
    const staged = join(dirname(target), `.installing-${name}`);
    rmSync(staged, { recursive: true, force: true });
    this.#undo.push(() => rmSync(staged, { recursive: true, force: true }));
    return staged;
  }

  /** Removes prepared files, last first. A folder that is not empty stays. */
  takeBack(): void {
    for (const step of this.#undo.reverse()) {
      try {
        step();
      } catch {
        // In use, or filled by another program meanwhile: it stays.
      }
    }
  }
}

/** Whether the name exists, also as a link without target. */
export function isThere(path: string): boolean {
  return existsSync(path) || lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
