import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import * as z from 'zod';
import { ConfigError } from './config-error.ts';
import { type RawConfig, sectionOf } from './portable-config.ts';

const text = z.string().max(65_536);

const secrets = z.object({
  /** Texts of files below the folder of sidecar.json, by their relative path. */
  files: z.record(z.string(), text),
  /** Secrets that stand in sidecar.json itself, by kid. */
  keys: z.record(z.string(), text),
  databaseUrl: text.nullable(),
});

/** The secrets of a configuration, for an encrypted backup. Those in variables of the environment stay there. */
export type PortableSecrets = z.output<typeof secrets>;

export const NO_SECRETS: PortableSecrets = { files: {}, keys: {}, databaseUrl: null };

/** Keys of the panel's stored secrets: tokens of git accounts; second factors. */
const PANEL_KEYS = ['secrets/accounts.key', 'secrets/panel.key'];

/** Paths of the files in which a configuration keeps its secrets, as it names them. */
export function secretFilesOf(root: RawConfig): string[] {
  const { database, api } = { database: sectionOf(root, 'database'), api: sectionOf(root, 'api') };
  const named = keysOf(root).flatMap(({ secretFile, previousSecretFile }) => [secretFile, previousSecretFile]);
  const tls = sectionOf(api, 'tls');
  const all = [...named, database.urlFile, tls.certFile, tls.keyFile, ...PANEL_KEYS];
  return [...new Set(all.filter((path) => typeof path === 'string'))];
}

export function keysOf(root: RawConfig): RawConfig[] {
  const list = Array.isArray(root.keys) ? (root.keys as unknown[]) : [];
  return list.filter((key) => typeof key === 'object' && key !== null) as RawConfig[];
}

/** Secrets of sidecar.json in `folder`. Files outside the folder belong to the machine, and are left out. */
export function collectSecrets(root: RawConfig, folder: string): PortableSecrets {
  const files: Record<string, string> = {};
  for (const path of secretFilesOf(root)) {
    const inside = pathInside(path, folder);
    if (inside !== null && existsSync(join(folder, inside))) files[inside] = readFileSync(join(folder, inside), 'utf8');
  }
  const inline = keysOf(root).flatMap(({ kid, secret }) => (typeof secret === 'string' ? [[String(kid), secret]] : []));
  const { url } = sectionOf(root, 'database');
  return { files, keys: Object.fromEntries(inline), databaseUrl: typeof url === 'string' ? url : null };
}

/** Path relative to the folder; null if it leads elsewhere. */
export function pathInside(path: string, folder: string): string | null {
  const inside = relative(folder, resolve(folder, path));
  return inside === '' || inside.startsWith('..') || isAbsolute(inside) ? null : inside;
}

/** @throws ConfigError for a text that another program has written */
export function parseSecrets(json: string): PortableSecrets {
  try {
    return secrets.parse(JSON.parse(json));
  } catch {
    throw new ConfigError('the secrets of the backup cannot be read');
  }
}
