import { closeSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../make-folder.ts';
import type { UpdateEnd, UpdateOrder } from './channel/messages.ts';

/** Release below `data/releases`; null: the program's own folder. */
export type Release = string | null;

/** A change of the release that is neither committed nor taken back. */
export interface Trial extends UpdateOrder {
  readonly from: Release;
}

/** Content of `data/updates/keeper.json`. */
export interface Choice {
  /** Version of the program's own folder when the choice was made. */
  readonly program: string;
  readonly chosen: Release;
  /** Release before the last commit; absent if there is none. */
  readonly previous?: Release;
  /** The chosen release writes a newer format than the one before. */
  readonly raises: boolean;
  readonly trial: Trial | null;
  readonly last: UpdateEnd | null;
}

/** Program beside the keeper that was started first. */
export interface OwnProgram {
  readonly version: string;
  /** Path of its `main.js`. */
  readonly main: string;
}

const NAME = /^\d[0-9A-Za-z.-]{0,63}$/;
const OWNER_ONLY = 0o600;

/** Which release starts, kept on disk: each change is there as a whole before the keeper acts by it. */
export class ReleaseChoice {
  readonly #file: string;
  readonly #releases: string;
  readonly #own: OwnProgram;
  #choice: Choice;

  /** @param folder folder of the configuration file */
  constructor(folder: string, own: OwnProgram) {
    this.#file = join(folder, 'data/updates/keeper.json');
    this.#releases = join(folder, 'data/releases');
    this.#own = own;
    this.#choice = this.#read();
  }

  get choice(): Choice {
    return this.#choice;
  }

  /** Program to start. In place of a release whose folder is gone, the own program. */
  programOf(release: Release): string {
    return this.#fileOf(release, 'main.js') ?? this.#own.main;
  }

  /** Keeper of the chosen release; null if it has none, or if it is not proven. */
  get keeper(): string | null {
    return this.#choice.trial === null ? this.#fileOf(this.#choice.chosen, 'sidecar-keeper.js') : null;
  }

  /** @throws Error of the disk; then nothing has changed */
  change(changes: Partial<Choice>): void {
    const before = this.#choice;
    try {
      this.replace({ ...before, ...changes });
    } catch (error) {
      this.#choice = before;
      throw error;
    }
  }

  /** @throws Error of the disk; the choice holds for this keeper all the same */
  replace(choice: Choice): void {
    this.#choice = choice;
    makeFolder(dirname(this.#file));
    const temporary = `${this.#file}.tmp`;
    const descriptor = openSync(temporary, 'w', OWNER_ONLY);
    try {
      writeFileSync(descriptor, `${JSON.stringify(choice, null, 2)}\n`);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, this.#file);
    flushFolder(dirname(this.#file));
  }

  #fileOf(release: Release, name: string): string | null {
    const file = join(this.#releases, release ?? '', name);
    return release !== null && statSync(file, { throwIfNoEntry: false })?.isFile() === true ? file : null;
  }

  /** A program folder that an owner has replaced wins over an earlier choice; so does it over a file that cannot be read. */
  #read(): Choice {
    const { version: program } = this.#own;
    const own: Choice = { program, chosen: null, raises: false, trial: null, last: null };
    try {
      const kept = JSON.parse(readFileSync(this.#file, 'utf8')) as Choice;
      if (!isRelease(kept.chosen) || !isRelease(kept.previous ?? null)) return own;
      if (kept.program !== program) return { ...own, last: kept.last ?? null };
      return { ...own, ...kept };
    } catch {
      return own;
    }
  }
}

function isRelease(value: unknown): boolean {
  return value === null || (typeof value === 'string' && NAME.test(value));
}

/** A rename is on disk once its folder is; Windows has no such call. */
function flushFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
