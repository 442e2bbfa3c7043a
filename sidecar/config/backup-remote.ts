import { resolve } from 'node:path';
import * as z from 'zod';
import { ConfigError } from './config-error.ts';
import { flag, integer, oneOf, rule, text } from './rules.ts';

const keepSection = z.strictObject({
  daily: integer(0, 10_000).default(14),
  weekly: integer(0, 10_000).default(8),
  monthly: integer(0, 10_000).default(12),
});

/** `backup.remote` of sidecar.json: fields of both types; `readRemote` refuses those of the other type. */
export const remoteSection = z.strictObject({
  type: oneOf('s3', 'folder'),
  path: text('the path of a folder').optional(),
  endpoint: rule<string>('https:// and a host, or http:// and a loopback address', 'text', isEndpoint).optional(),
  region: rule<string>(
    'the name of a region such as "eu-central-1"',
    'text',
    matching(/^[a-z0-9-]{1,64}$/i),
  ).optional(),
  bucket: rule<string>('the name of a bucket', 'text', matching(/^[a-zA-Z0-9][a-zA-Z0-9._-]{1,254}$/)).optional(),
  prefix: rule<string>('letters, digits and any of . _ - /', 'text', matching(/^[\w.-]+(\/[\w.-]+)*\/?$/)).optional(),
  pathStyle: flag().optional(),
  accessKeyFile: text('the path of a file').optional(),
  accessKeyEnv: text('the name of an environment variable').optional(),
  secretKeyFile: text('the path of a file').optional(),
  secretKeyEnv: text('the name of an environment variable').optional(),
  keep: keepSection.prefault({}),
});

/** Numbers of days, ISO weeks and months (UTC) whose newest backup is kept. */
export type RemoteKeep = z.output<typeof keepSection>;

/** Place of a secret, which is read when it is used. */
export type SecretPlaceOf = { readonly file: string } | { readonly variable: string };

export interface FolderRemote {
  readonly type: 'folder';
  /** Absolute. */
  readonly path: string;
  readonly keep: RemoteKeep;
}

export interface S3Remote {
  readonly type: 's3';
  /** Null: the endpoint of AWS for the region. */
  readonly endpoint: string | null;
  readonly region: string;
  readonly bucket: string;
  /** Empty, or with a slash at its end. */
  readonly prefix: string;
  /** Whether the bucket stands in the path and not in the host's name. */
  readonly pathStyle: boolean;
  readonly accessKey: SecretPlaceOf;
  readonly secretKey: SecretPlaceOf;
  readonly keep: RemoteKeep;
}

/** `backup.remote` as it is used. */
export type RemoteConfig = FolderRemote | S3Remote;

type RemoteSection = z.output<typeof remoteSection>;

/** @throws ConfigError */
export function readRemote(section: RemoteSection, base: string): RemoteConfig {
  const { type, keep, ...fields } = section;
  const own = type === 'folder' ? ['path'] : Object.keys(fields).filter((name) => name !== 'path');
  const foreign = Object.entries(fields).find(([name, value]) => value !== undefined && !own.includes(name));
  if (foreign !== undefined)
    throw new ConfigError(`backup.remote.${foreign[0]}: is not used by type ${type}; remove it`);
  if (type === 'folder') return { type, path: resolve(base, needed(fields.path, 'path')), keep };
  const prefix = fields.prefix ?? '';
  return {
    ...{ type, keep, endpoint: fields.endpoint ?? null, pathStyle: fields.pathStyle ?? false },
    region: fields.region ?? 'us-east-1',
    bucket: needed(fields.bucket, 'bucket'),
    prefix: prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`,
    accessKey: placeOf(section, 'accessKey', base),
    secretKey: placeOf(section, 'secretKey', base),
  };
}

function needed(value: string | undefined, field: string): string {
  if (value === undefined) throw new ConfigError(`backup.remote.${field}: expected a value, got nothing`);
  return value;
}

function placeOf(section: RemoteSection, name: 'accessKey' | 'secretKey', base: string): SecretPlaceOf {
  const { [`${name}File` as const]: file, [`${name}Env` as const]: variable } = section;
  if (file !== undefined && variable === undefined) return { file: resolve(base, file) };
  if (file === undefined && variable !== undefined) return { variable };
  const got = file === undefined ? 'none' : 'both';
  throw new ConfigError(`backup.remote: expected exactly one of ${name}File and ${name}Env, got ${got}`);
}

function matching(pattern: RegExp): (value: unknown) => boolean {
  return (value) => typeof value === 'string' && pattern.test(value) && !value.split('/').includes('..');
}

/** Keys and rows cross no network in the clear. */
function isEndpoint(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(value);
  if (`${username}${password}${search}${hash}` !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && /^(127(\.\d{1,3}){3}|localhost|\[::1\])$/.test(hostname));
}
