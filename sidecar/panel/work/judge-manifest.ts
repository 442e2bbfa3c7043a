import { isRecord } from '../is-record.ts';
import { PanelError } from '../panel-error.ts';

export interface JudgedManifest {
  readonly version: string;
  readonly dependencies: readonly string[];
}

const MAX_VERSION_CHARS = 100;
const BUNDLE_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/;

type Check = (value: unknown) => boolean;
const isText: Check = (value) => typeof value === 'string';
const isFilled: Check = (value) => typeof value === 'string' && value.trim() !== '';
const isName: Check = (value) => typeof value === 'string' && BUNDLE_NAME.test(value) && !value.includes('..');
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

/** Rules of the standalone server (`standalone/manifest.ts`): it would refuse to start the bundle. */
const RULES: Readonly<Record<string, { readonly expected: string; readonly check: Check; readonly isNeeded?: true }>> =
  {
    version: { expected: 'a text such as "1.0.0"', check: isFilled, isNeeded: true },
    server: { expected: 'a file name such as "server.js"', check: isFilled, isNeeded: true },
    description: { expected: 'a text', check: isText },
    dependencies: { expected: 'a list of names of bundles', check: isListOf(isName) },
    tags: { expected: 'a list of texts', check: isListOf(isText) },
    autostart: { expected: 'true or false', check: (value) => typeof value === 'boolean' },
  };

/**
 * Judges a `bundle.json` as the server does.
 *
 * @param has whether the bundle has a file of this path
 * @throws PanelError `upload.manifest` with the folder
 */
export function judgeJsonManifest(folder: string, text: string, has: (path: string) => boolean): JudgedManifest {
  const refused = (detail: string) =>
    new PanelError('upload.manifest', { entry: folder, detail: `bundle.json: ${detail}` });
  const given = parsed(text);
  if (given === null) throw refused('expected a JSON object');
  for (const name of Object.keys(given))
    if (!Object.hasOwn(RULES, name)) throw refused(`${name.slice(0, 100)}: unknown`);
  for (const [name, { expected, check, isNeeded }] of Object.entries(RULES)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined ? isNeeded : !check(value)) throw refused(`${name}: expected ${expected}`);
  }
  const { version, server, dependencies } = given as { version: string; server: string; dependencies?: string[] };
  if (!has(server.replace(/^\.\//, ''))) throw refused(`server: there is no file ${server.slice(0, 240)}`);
  return { version: version.slice(0, MAX_VERSION_CHARS), dependencies: dependencies ?? [] };
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}
