import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../make-folder.ts';

const FILE = 'instance.json';
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const ID_LENGTH = 16;
const ID = /^[a-z2-7]{16}$/;

interface Kept {
  readonly id: string;
  /** Inode of the file itself: a copy has another one, and is another sidecar. */
  readonly inode: string;
}

/**
 * The random id by which other sidecars and clients know this one, in a file of its data folder. It stays over restarts.
 * A data folder that was copied gets an id of its own at the first start with it.
 */
export class Instance {
  readonly #folder: string;
  #id: string;

  private constructor(folder: string, id: string) {
    this.#folder = folder;
    this.#id = id;
  }

  /** Makes folder and file if they are missing. */
  static open(folder: string): Instance {
    makeFolder(folder);
    return new Instance(folder, readId(folder) ?? replaceId(folder));
  }

  get id(): string {
    return this.#id;
  }

  /** Draws another id: a second sidecar lives under this one, as after a copy of a whole disk. */
  renew(): string {
    this.#id = replaceId(this.#folder);
    return this.#id;
  }
}

/** The id in a data folder; null if no sidecar has run with it. Writes nothing. */
export function readId(folder: string): string | null {
  const file = join(folder, FILE);
  try {
    const { id, inode } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Kept>;
    const isWhole = typeof id === 'string' && ID.test(id) && inode === inodeOf(file);
    return isWhole ? id : null;
  } catch {
    // Missing or damaged: nothing depends on the id of an earlier run.
    return null;
  }
}

function replaceId(folder: string): string {
  const id = Array.from(randomBytes(ID_LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
  const made = join(folder, `${FILE}.${id}`);
  const file = openSync(made, 'wx', 0o600);
  try {
    const kept: Kept = { id, inode: String(fstatSync(file, { bigint: true }).ino) };
    writeSync(file, `${JSON.stringify(kept)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  try {
    renameSync(made, join(folder, FILE));
  } catch (error) {
    rmSync(made, { force: true });
    throw error;
  }
  return id;
}

function inodeOf(file: string): string {
  return String(statSync(file, { bigint: true }).ino);
}
