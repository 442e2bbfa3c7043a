import { join } from 'node:path';
import { importSecret } from '#protocol/signing.ts';
import { loadConfig, type SidecarConfig } from '../config/load-config.ts';
import type { KeyRow } from '../security/keyring.ts';
import type { HandOver } from './hand-over.ts';

const EVERYTHING: Pick<KeyRow, 'operations' | 'namespaces' | 'allowUnfilteredWrites'> = {
  operations: ['*'],
  namespaces: ['*'],
  allowUnfilteredWrites: false,
};

export function configFileIn(folder: string): string {
  return join(folder, 'sidecar.json');
}

/**
 * `sidecar.json` of the data folder, served to the parent alone: on any free port of this machine, with one key whose
 * secret nobody else has. What that key may do is what the file says of it.
 *
 * @throws ConfigError
 */
export function loadEmbeddedConfig({ folder, kid, secret }: HandOver, environment: NodeJS.ProcessEnv): SidecarConfig {
  // The file's own secrets are not used, so they need not be there.
  const config = loadConfig(configFileIn(folder), environment, true);
  const { operations, namespaces, allowUnfilteredWrites } = config.keys.find((key) => key.kid === kid) ?? EVERYTHING;
  return Object.freeze({
    ...config,
    api: {
      ...config.api,
      host: '127.0.0.1',
      port: 0,
      socketPath: null,
      tls: null,
      requireHttps: 'non-loopback' as const,
    },
    keys: [
      {
        kid,
        secret: importSecret(secret),
        previous: null,
        ...{ operations, namespaces, allowUnfilteredWrites },
        addresses: [],
      },
    ],
  });
}
