import type { RemoteConfig, S3Remote, SecretPlaceOf } from '../../config/backup-remote.ts';
import { ConfigError, namingFile } from '../../config/config-error.ts';
import { readSmallFile } from '../../config/secrets.ts';
import { FolderStore } from './folder-store.ts';
import type { RemoteStore } from './remote-store.ts';
import type { S3Keys } from './s3-store.ts';

/**
 * The client of S3 is read only if it is configured. Keys are read for each opening.
 * @param configFile path of sidecar.json, for errors. @throws ConfigError
 */
export async function openRemote(
  remote: RemoteConfig,
  configFile: string,
  environment: NodeJS.ProcessEnv,
): Promise<RemoteStore> {
  if (remote.type === 'folder') return new FolderStore(remote);
  const keys = readS3Keys(remote, configFile, environment);
  const { S3Store } = await import('./s3-store.ts');
  return new S3Store(remote, keys);
}

/** @throws ConfigError */
export function readS3Keys(
  { accessKey, secretKey }: S3Remote,
  configFile: string,
  environment: NodeJS.ProcessEnv,
): S3Keys {
  return namingFile(configFile, () => ({
    accessKeyId: readKey(accessKey, 'accessKey', environment),
    secretAccessKey: readKey(secretKey, 'secretKey', environment),
  }));
}

function readKey(place: SecretPlaceOf, name: string, environment: NodeJS.ProcessEnv): string {
  const [field, text] =
    'file' in place
      ? [`backup.remote.${name}File`, readSmallFile(place.file, `backup.remote.${name}File`, inPlace(environment))]
      : [`backup.remote.${name}Env`, environment[place.variable] ?? ''];
  const key = text.trim();
  if (key !== '') return key;
  const got = 'file' in place ? `an empty file ${place.file}` : `no variable ${place.variable}`;
  throw new ConfigError(`${field}: expected a key, got ${got}: put the key of the bucket there`);
}

function inPlace(environment: NodeJS.ProcessEnv) {
  return { folder: '/', environment, warnings: [], isMadeLater: false };
}
