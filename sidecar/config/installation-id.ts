import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from './config-error.ts';
import { writeNew } from './new-file.ts';

const FILE = 'installation.id';
const LETTERS = 'abcdefghijklmnopqrstuvwxyz234567';
const PATTERN = /^[a-z2-7]{26}$/;

/**
 * Id of this installation, made when it is first asked for and kept beside the data. A copied data folder has the same one:
 * docs/backup.md tells its owner to delete the file.
 *
 * @throws ConfigError if the file holds something else
 */
export function installationId(dataFolder: string): string {
  const file = join(dataFolder, FILE);
  writeNew(file, `${newId()}\n`);
  const id = readFileSync(file, 'utf8').trim();
  if (!PATTERN.test(id)) throw new ConfigError(`${file} holds no id of an installation; delete it to make another`);
  return id;
}

/** ID8: the part of the id in the names of backups off this machine. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}

/** 26 of 32 letters: 130 bits. */
function newId(): string {
  return Array.from(randomBytes(26), (byte) => LETTERS[byte % LETTERS.length]).join('');
}
