import type { RemoteConfig } from '../../config/backup-remote.ts';
import { readS3Keys } from '../remote/open-remote.ts';

/** First letters of the folders at the second place; the installation's ID8 follows. */
export const LITESTREAM_FOLDER = 'litestream-';

export interface LitestreamPlaces {
  /** File of the database. */
  readonly database: string;
  readonly remote: RemoteConfig;
  /** ID8 of the installation whose copy it is. */
  readonly installation: string;
  /** Socket that answers about the copying; null for a restore. */
  readonly socket: string | null;
}

/** Configuration of Litestream 0.5 as JSON, which is YAML too. It holds no keys. */
export function litestreamConfig(places: LitestreamPlaces): string {
  const { database, socket } = places;
  const config = {
    logging: { type: 'json', level: 'warn', stderr: true },
    ...(socket === null ? {} : { socket: { enabled: true, path: socket, permissions: 0o600 } }),
    dbs: [{ path: database, replica: replicaOf(places) }],
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

/** Environment of the child: the keys are in no file, and nothing else of ours is its concern. @throws ConfigError */
export function litestreamEnvironment(
  remote: RemoteConfig,
  configFile: string,
  environment: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const basic = { PATH: environment.PATH, HOME: environment.HOME };
  if (remote.type === 'folder') return basic;
  const { accessKeyId, secretAccessKey } = readS3Keys(remote, configFile, environment);
  return { ...basic, LITESTREAM_ACCESS_KEY_ID: accessKeyId, LITESTREAM_SECRET_ACCESS_KEY: secretAccessKey };
}

function replicaOf({ remote, installation }: LitestreamPlaces): object {
  const name = `${LITESTREAM_FOLDER}${installation}`;
  if (remote.type === 'folder') return { type: 'file', path: `${remote.path}/${name}` };
  const { endpoint, region, bucket, prefix, pathStyle } = remote;
  return {
    ...{ type: 's3', bucket, region, path: `${prefix}${name}`, 'force-path-style': pathStyle },
    ...(endpoint === null ? {} : { endpoint }),
  };
}
