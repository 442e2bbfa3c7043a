import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { PanelError } from '../panel-error.ts';

/** Beside the bundles of a standalone server: `{"shop":false}`. It wins over `autostart` of each `bundle.json`. */
const FILE = '.autostart.json';
const MAX_BYTES = 262_144;
const FILE_MODE = 0o644;

/** By name of the bundle. */
export type AutostartValues = ReadonlyMap<string, boolean>;

/** Choices of the owner; none if there is no file, or if it cannot be read. */
export function readAutostart(root: string): AutostartValues {
  try {
    return readFile(root);
  } catch {
    return new Map();
  }
}

/**
 * @param value null removes the choice, so that the manifest holds again
 * @throws PanelError `bundles.unavailable` if the present file cannot be read, `config.unwritable`
 */
export function writeAutostart(
  root: string,
  name: string,
  value: boolean | null,
  replaceFile: (path: string, text: string, mode: number) => void,
): void {
  let present: AutostartValues;
  try {
    present = readFile(root);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new PanelError('bundles.unavailable', { detail: `bundles/${FILE}: ${reason}; correct or remove the file` });
  }
  const others = [...present].filter(([other]) => other !== name);
  const entries = value === null ? others : [...others, [name, value] as const];
  const text = `${JSON.stringify(Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1))), null, 2)}\n`;
  const path = fileIn(root);
  try {
    replaceFile(path, text, FILE_MODE);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new PanelError('config.unwritable', { field: 'autostart', detail: `${path} cannot be written: ${code}` });
  }
}

/** `bundles/` itself may be a link of the owner; the file may not. */
function fileIn(root: string): string {
  return join(realpathSync(join(root, 'bundles')), FILE);
}

function readFile(root: string): AutostartValues {
  let descriptor: number;
  try {
    descriptor = openSync(fileIn(root), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw error;
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || stats.size > MAX_BYTES) throw new Error(`expected a file of at most ${MAX_BYTES} bytes`);
    return readValues(readFileSync(descriptor, 'utf8'));
  } finally {
    closeSync(descriptor);
  }
}

function readValues(text: string): AutostartValues {
  const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject || !Object.values(value).every((one) => typeof one === 'boolean')) {
    throw new Error('expected an object of true and false');
  }
  return new Map(Object.entries(value as Record<string, boolean>));
}
