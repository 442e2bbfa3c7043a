import * as z from 'zod';
import { PanelError } from '../panel-error.ts';

/** A package of the lock. */
export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  /** `node_modules/a/node_modules/b` */
  readonly place: string;
  readonly license: string | null;
  readonly hasScripts: boolean;
  readonly isDev: boolean;
  readonly isOptional: boolean;
}

export interface CheckedPackages {
  /** `package.json`: name → wanted range, and the section that names it. */
  readonly wanted: ReadonlyMap<string, { readonly range: string; readonly section: PackageSection }>;
  readonly locked: readonly LockedPackage[];
  readonly scripts: readonly string[];
}

const SECTIONS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'] as const;
export type PackageSection = (typeof SECTIONS)[number];

const NAME = /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/;
/** Versions, ranges and tags: no `:` and no `/`, so neither an address, a file, an alias nor a repository. */
const RANGE = /^[A-Za-z0-9.^~<>=|*+\- ]{0,200}$/;
const VERSION = /^\d{1,10}\.\d{1,10}\.\d{1,10}(?:[-+][A-Za-z0-9.+-]{1,100})?$/;
const SHA512 = /^sha512-[A-Za-z0-9+/]{86}==$/;
const FOREIGN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);
const MAX_PACKAGES = 5000;

const ranges = z.record(z.string(), z.string()).optional();
const manifestShape = z.object({
  ...{ dependencies: ranges, devDependencies: ranges, optionalDependencies: ranges, peerDependencies: ranges },
  scripts: z.record(z.string(), z.string()).optional(),
  overrides: z.unknown().optional(),
  workspaces: z.undefined({ error: 'workspaces are not supported' }).optional(),
});
const entryShape = z.object({
  name: z.string().optional(),
  version: z.string().optional(),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  link: z.boolean().optional(),
  inBundle: z.boolean().optional(),
  hasInstallScript: z.boolean().optional(),
  dev: z.boolean().optional(),
  devOptional: z.boolean().optional(),
  optional: z.boolean().optional(),
  license: z.unknown().optional(),
});
const lockShape = z.object({
  lockfileVersion: z.union([z.literal(2), z.literal(3)]),
  packages: z.record(z.string(), entryShape),
});

type Entry = z.output<typeof entryShape>;

/**
 * Judges package.json and package-lock.json as untrusted text: every package comes from the registry, under its own name, with a
 * SHA-512.
 *
 * @param registry empty: offline, then all packages must be from one https origin, and only the cache is asked
 * @throws PanelError `packages.lock`
 */
export function checkPackages(manifestText: string, lockText: string | null, registry: string): CheckedPackages {
  const manifest = read(manifestShape, manifestText, 'package.json');
  const wanted = wantedOf(manifest);
  refuseAddresses(manifest.overrides, 'overrides');
  if (lockText === null) throw fault('there is no package-lock.json; commit the one that npm writes');
  const { packages } = read(lockShape, lockText, 'package-lock.json');
  const places = Object.keys(packages).filter((place) => place !== '');
  if (places.length > MAX_PACKAGES) throw fault(`the lock has more than ${MAX_PACKAGES} packages`);
  const source = sourceOf(registry, packages);
  const locked = places.map((place) => lockedOf(place, packages[place] as Entry, source));
  return { wanted, locked, scripts: Object.keys(manifest.scripts ?? {}) };
}

function read<Shape extends z.ZodType>(shape: Shape, text: string, file: string): z.output<Shape> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw fault(`${file} is no JSON`);
  }
  refuseForeignKeys(parsed, file);
  const found = shape.safeParse(parsed);
  if (found.success) return found.data;
  const issue = found.error.issues[0];
  throw fault(`${file}: ${issue?.path.join('.').slice(0, 200)}: ${issue?.message ?? 'unexpected'}`);
}

/** Keys that some programs take for the object's own prototype. */
function refuseForeignKeys(value: unknown, file: string): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (FOREIGN_KEYS.has(key)) throw fault(`${file} has the key ${key}`);
    refuseForeignKeys(inner, file);
  }
}

function wantedOf(manifest: z.output<typeof manifestShape>): CheckedPackages['wanted'] {
  const wanted = new Map<string, { range: string; section: PackageSection }>();
  for (const section of SECTIONS) {
    for (const [name, range] of Object.entries(manifest[section] ?? {})) {
      if (!NAME.test(name)) throw fault(`package.json names ${shown(name)}, which is no name of a package`);
      if (!RANGE.test(range))
        throw fault(`${name} comes from ${shown(range)}; expected a version or a range of the registry`);
      wanted.set(name, { range, section });
    }
  }
  return wanted;
}

function refuseAddresses(value: unknown, field: string): void {
  if (typeof value === 'string' && !RANGE.test(value.replace(/^\$/, ''))) {
    throw fault(`${field} of package.json names ${shown(value)}; expected a version or a range`);
  }
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) refuseAddresses(inner, field);
  }
}

/** Address that every package must be below. */
function sourceOf(registry: string, packages: Readonly<Record<string, Entry>>): string | null {
  if (registry !== '') return `${registry.replace(/\/+$/, '')}/`;
  const first = Object.values(packages).find(({ resolved }) => resolved !== undefined)?.resolved;
  if (first === undefined || !URL.canParse(first)) return null;
  const { protocol, origin } = new URL(first);
  return protocol === 'https:' ? `${origin}/` : null;
}

function lockedOf(place: string, entry: Entry, source: string | null): LockedPackage {
  const parts = place.split(/(?:^|\/)node_modules\//).slice(1);
  const name = parts.at(-1) ?? '';
  const isPlace =
    parts.length > 0 &&
    parts.every((part) => NAME.test(part)) &&
    place === parts.map((part) => `node_modules/${part}`).join('/');
  if (!isPlace) throw fault(`the lock has the place ${shown(place)}`);
  if (entry.link === true) throw fault(`${name} is a link to a folder`);
  if (entry.name !== undefined && entry.name !== name)
    throw fault(`${place} holds ${shown(entry.name)}: aliases are refused`);
  const { version, resolved, integrity } = entry;
  if (version === undefined || !VERSION.test(version)) throw fault(`${place} has no version`);
  if (entry.inBundle !== true || resolved !== undefined) {
    if (!isFrom(resolved, source)) {
      throw fault(
        source === null
          ? `${name} has no address of a registry`
          : `${name} comes from ${shown(resolved ?? 'nowhere')}, not from ${source}`,
      );
    }
    // npm takes the first that it knows; a second, weaker one would count too.
    if (integrity === undefined || !SHA512.test(integrity)) throw fault(`${name} has no SHA-512`);
  }
  return {
    ...{ name, version, place, hasScripts: entry.hasInstallScript === true },
    ...{ isDev: entry.dev === true || entry.devOptional === true, isOptional: entry.optional === true },
    license: typeof entry.license === 'string' ? entry.license.slice(0, 100) : null,
  };
}

/** Below the registry, without a way out of its path. */
function isFrom(resolved: string | undefined, source: string | null): boolean {
  if (resolved === undefined || source === null || !URL.canParse(resolved)) return false;
  const url = new URL(resolved);
  return (
    url.href === resolved && resolved.startsWith(source) && url.username + url.password + url.search + url.hash === ''
  );
}

/** At most 200 characters, none of them unseen. */
function shown(text: string): string {
  return JSON.stringify(text.replace(/[\p{Cc}\p{Cf}]/gu, '\u{FFFD}').slice(0, 200));
}

function fault(detail: string): PanelError {
  return new PanelError('packages.lock', { detail });
}
