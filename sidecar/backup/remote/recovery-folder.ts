import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { RawConfig } from '../../config/portable-config.ts';
import { NO_SECRETS, type PortableSecrets, parseSecrets } from '../../config/portable-secrets.ts';
import { CONFIGURATION, MANIFEST } from '../manifest.ts';
import { SECRETS } from './archive.ts';
import type { ObjectName } from './object-name.ts';

/** Opened backups of restores that have not ended, each below the name of its object. */
export class RecoveryFolder {
  readonly #folder: string;

  constructor(dataFolder: string) {
    this.#folder = join(dataFolder, 'recovery');
  }

  pathOf({ object }: Pick<ObjectName, 'object'>): string {
    return join(this.#folder, object);
  }

  isOpen(name: Pick<ObjectName, 'object'>): boolean {
    return existsSync(join(this.pathOf(name), MANIFEST));
  }

  clear(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** The configuration of an opened backup; of one of the version before, which had none, an empty one. */
export function configurationIn(folder: string): RawConfig {
  const file = join(folder, CONFIGURATION);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as RawConfig) : {};
}

export function secretsIn(folder: string): PortableSecrets {
  const file = join(folder, SECRETS);
  return existsSync(file) ? parseSecrets(readFileSync(file, 'utf8')) : NO_SECRETS;
}
