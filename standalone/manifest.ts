import { readFileSync, realpathSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';

/** Contents of a `bundle.json` (contract section 9), defaults filled in. */
export interface Manifest {
  readonly version: string;
  readonly description: string;
  /** Absolute path of the ES module that starts the bundle. */
  readonly server: string;
  readonly dependencies: readonly string[];
  readonly tags: readonly string[];
  readonly autostart: boolean;
}

/** A `bundle.json` that cannot be used; the message names the property. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
}

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

/** Names are looked up and never joined to paths otherwise; with this a name cannot lead elsewhere even so. */
export function isBundleName(name: string): boolean {
  return NAME.test(name) && !name.includes('..') && name.length <= 100;
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isNonEmptyText: Check = (value) => typeof value === 'string' && value.trim() !== '';
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const isDependency: Check = (value) => typeof value === 'string' && isBundleName(value);

const PROPERTIES: Readonly<
  Record<keyof Manifest, { readonly expected: string; readonly check: Check; readonly default?: unknown }>
> = {
  version: { expected: 'a text such as "1.0.0"', check: isNonEmptyText },
  description: { expected: 'a text', check: isText, default: '' },
  server: { expected: 'a file name such as "server.js"', check: isNonEmptyText },
  dependencies: { expected: 'a list of names of bundles', check: isListOf(isDependency), default: [] },
  tags: { expected: 'a list of texts', check: isListOf(isText), default: [] },
  autostart: { expected: 'true or false', check: (value) => typeof value === 'boolean', default: true },
};

/**
 * Reads `bundle.json` of a bundle's folder.
 *
 * @throws ManifestError that says what is wrong with it
 */
export function readManifest(folder: string): Manifest {
  const given = readObject(join(folder, 'bundle.json'));
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(PROPERTIES, name)) {
      throw new ManifestError(`bundle.json: ${name}: unknown; known are ${Object.keys(PROPERTIES).join(', ')}`);
    }
  }
  const values = Object.entries(PROPERTIES).map(([name, property]) => {
    const value = Object.hasOwn(given, name) ? given[name] : property.default;
    if (property.check(value)) return [name, value];
    const got = value === undefined ? 'nothing' : JSON.stringify(value);
    throw new ManifestError(`bundle.json: ${name}: expected ${property.expected}, got ${got}`);
  });
  const manifest = Object.fromEntries(values) as Manifest;
  return { ...manifest, server: findScript(folder, manifest.server) };
}

function readObject(file: string): Readonly<Record<string, unknown>> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ManifestError(`bundle.json cannot be read: ${(error as Error).message}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new ManifestError(`bundle.json is no JSON: ${(error as Error).message}`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new ManifestError('bundle.json: expected an object');
}

/** Inside of the folder, also where links lead. */
function findScript(folder: string, name: string): string {
  if (isAbsolute(name) || name.split(/[\\/]/).includes('..')) {
    throw new ManifestError(`bundle.json: server: expected a file inside of the bundle, got ${JSON.stringify(name)}`);
  }
  let file: string;
  try {
    file = realpathSync(join(folder, name));
  } catch {
    throw new ManifestError(`bundle.json: server: there is no file ${name}`);
  }
  const way = relative(realpathSync(folder), file);
  if (way.startsWith('..') || isAbsolute(way)) {
    throw new ManifestError(`bundle.json: server: ${name} leads out of the bundle`);
  }
  return file;
}
