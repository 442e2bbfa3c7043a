import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Beside the bundles: `{"shop":false}`. The panel and owners write it; it wins over `autostart` of each `bundle.json`. */
const FILE = '.autostart.json';

export interface AutostartChoices {
  readonly choices: ReadonlyMap<string, boolean>;
  /** Why the file counts for nothing, for the console; empty if it is well or missing. */
  readonly problem: string;
}

/** @param folder the folder of the bundles */
export function readAutostart(folder: string): AutostartChoices {
  try {
    const value: unknown = JSON.parse(readFileSync(join(folder, FILE), 'utf8').replace(/^\uFEFF/, ''));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('expected an object');
    const wrong = Object.entries(value).find(([, choice]) => typeof choice !== 'boolean');
    if (wrong !== undefined) throw new Error(`${wrong[0]}: expected true or false`);
    return { choices: new Map(Object.entries(value)), problem: '' };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const problem = code === 'ENOENT' ? '' : `${FILE} is ignored, each bundle.json holds: ${message}`;
    return { choices: new Map(), problem };
  }
}
