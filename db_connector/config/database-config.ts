import { KID_PATTERN } from '../protocol/envelope.ts';
import { isNamespace } from '../protocol/identifiers.ts';
import { isJsonObject, type Json, JsonError, type JsonObject, parseJson } from '../protocol/json.ts';
import { describeJsonFault } from '../protocol/json-fault.ts';
import {
  CONNECTOR_DEFAULT_MAX_ANSWER_BYTES,
  CONNECTOR_DEFAULT_MAX_CONCURRENT,
  CONNECTOR_DEFAULT_SLOW_CALL_MS,
  CONNECTOR_DEFAULT_TIMEOUT_MS,
} from '../protocol/limits.ts';
import { ConfigError } from './config-error.ts';
import { Fields } from './fields.ts';
import { isLoopback, parseTarget, type Target } from './target.ts';

/** Settings of `vfs/database.json` that calls need, wherever the API is. */
export interface CallSettings {
  readonly keyId: string;
  /** `*` in it: every namespace. */
  readonly namespaces: ReadonlySet<string>;
  /** For one attempt. */
  readonly timeoutMs: number;
  readonly maxConcurrent: number;
  readonly maxAnswerBytes: number;
  /** A call that takes longer is a line on the console; 0 switches that off. */
  readonly slowCallMs: number;
  /** `auto`: a stream if the API offers one, POST otherwise. */
  readonly transport: TransportMode;
  /** `auto`: calls go out in a thread of their own if the host allows threads. */
  readonly worker: WorkerMode;
}

export type TransportMode = 'auto' | 'stream' | 'post';
export type WorkerMode = 'auto' | 'off';

/** `vfs/database.json` for an API at an address, checked and complete (contract section 8). */
export interface DatabaseConfig extends CallSettings {
  /** Every address of the API, the nearest first. */
  readonly targets: readonly Target[];
  /** Address that is spoken of: the nearest, if not said otherwise. */
  readonly target: Target;
  /** As written: relative to the folder of the file. */
  readonly secretFile: string | null;
  /** Host names in lower case, without port. */
  readonly allowedHosts: readonly string[];
  /** As written: relative to the folder of the file. */
  readonly caFile: string | null;
}

/** The same for a sidecar that the connector runs itself: its address is known once it listens. */
export interface EmbeddedConfig extends CallSettings {
  readonly target: null;
  /** Node.js that runs it: a command on the path, or a file. */
  readonly node: string;
  /** As written; null: the host's own place. */
  readonly folder: string | null;
}

/** Fields of database.json. */
export const FIELDS = [
  'url',
  'keyId',
  'secretFile',
  'namespaces',
  'timeoutMs',
  'maxConcurrent',
  'maxAnswerBytes',
  'allowedHosts',
  'slowCallMs',
  'transport',
  'worker',
  'caFile',
  'sidecar',
];
/** Fields of its section `sidecar`. */
export const SIDECAR_FIELDS = ['mode', 'node', 'folder'];
/** Id of a key that needs no name: the sidecar has only this one. */
const EMBEDDED_KEY_ID = 'local';
const SIDECAR = 'sidecar.';
/** More would only lengthen the time until a call ends. */
const MAX_ADDRESSES = 8;
const HOST_NAME = /^[a-z0-9._:-]+$/i;
/** Longest text that V8 holds; an answer beyond it could not be read at all. */
const MAX_ANSWER_BYTES = 512 * 1024 * 1024 - 1024;

/**
 * Reads the text of `database.json`.
 *
 * @param overrides stand in place of its fields, and of those of its section `sidecar` (`sidecar.folder`)
 * @throws ConfigError `field: expected …, got …`
 */
export function parseDatabaseConfig(
  text: string,
  overrides: Readonly<Record<string, string>> = {},
): DatabaseConfig | EmbeddedConfig {
  const fields = new Fields(overlay(parseFile(text), overrides));
  fields.refuseOthers(FIELDS);
  const sidecar = fields.section('sidecar');
  return Object.freeze(isEmbedded(sidecar) ? parseEmbedded(fields, sidecar) : parseExternal(fields, sidecar));
}

function parseExternal(fields: Fields, sidecar: Fields): DatabaseConfig {
  const targets = parseTargets(fields);
  sidecar.refuseOthers(['mode']);
  return {
    targets,
    target: targets[0],
    keyId: parseKeyId(fields.text('keyId'), fields),
    secretFile: fields.optionalText('secretFile'),
    namespaces: parseNamespaces(fields),
    ...parseLimits(fields),
    allowedHosts: parseAllowedHosts(fields, targets),
    caFile: fields.optionalText('caFile'),
  };
}

/** Fields of an address may stay in the file, so that changing the mode is one line. */
function parseEmbedded(fields: Fields, sidecar: Fields): EmbeddedConfig {
  sidecar.refuseOthers(SIDECAR_FIELDS);
  for (const unused of ['secretFile', 'caFile']) {
    fields.optionalText(unused);
  }
  if (!fields.isList('url')) fields.optionalText('url');
  parseAllowedHosts(fields, []);
  return {
    target: null,
    node: sidecar.optionalText('node') ?? 'node',
    folder: sidecar.optionalText('folder'),
    keyId: parseKeyId(fields.optionalText('keyId') ?? EMBEDDED_KEY_ID, fields),
    namespaces: parseEmbeddedNamespaces(fields),
    ...parseLimits(fields),
  };
}

/** Configuration for a sidecar that listens now, on this machine. */
export function configAt({ keyId, ...embedded }: EmbeddedConfig, address: string): DatabaseConfig {
  const { namespaces, timeoutMs, maxConcurrent, maxAnswerBytes, slowCallMs, transport, worker } = embedded;
  const target = parseTarget(address);
  return Object.freeze({
    ...{
      targets: [target],
      target,
      keyId,
      namespaces,
      timeoutMs,
      maxConcurrent,
      maxAnswerBytes,
      slowCallMs,
      transport,
      worker,
    },
    secretFile: null,
    allowedHosts: [target.host],
    caFile: null,
  });
}

function parseLimits(
  fields: Fields,
): Pick<CallSettings, 'timeoutMs' | 'maxConcurrent' | 'maxAnswerBytes' | 'slowCallMs' | 'transport' | 'worker'> {
  return {
    timeoutMs: fields.integer('timeoutMs', { min: 100, max: 120_000, default: CONNECTOR_DEFAULT_TIMEOUT_MS }),
    maxConcurrent: fields.integer('maxConcurrent', { min: 1, max: 256, default: CONNECTOR_DEFAULT_MAX_CONCURRENT }),
    maxAnswerBytes: fields.integer('maxAnswerBytes', {
      min: 1024,
      max: MAX_ANSWER_BYTES,
      default: CONNECTOR_DEFAULT_MAX_ANSWER_BYTES,
    }),
    slowCallMs: fields.integer('slowCallMs', { min: 0, max: 600_000, default: CONNECTOR_DEFAULT_SLOW_CALL_MS }),
    transport: parseTransport(fields),
    worker: parseWorker(fields),
  };
}

function parseTransport(fields: Fields): TransportMode {
  const mode = fields.optionalText('transport') ?? 'auto';
  if (mode !== 'auto' && mode !== 'stream' && mode !== 'post') {
    throw fields.wrong('transport', '"auto", "stream" or "post"', mode);
  }
  return mode;
}

function parseWorker(fields: Fields): WorkerMode {
  const mode = fields.optionalText('worker') ?? 'auto';
  if (mode !== 'auto' && mode !== 'off') throw fields.wrong('worker', '"auto" or "off"', mode);
  return mode;
}

function overlay(file: JsonObject, overrides: Readonly<Record<string, string>>): JsonObject {
  const whole: Record<string, Json> = { ...file };
  for (const [field, value] of Object.entries(overrides)) {
    const name = field.startsWith(SIDECAR) ? field.slice(SIDECAR.length) : null;
    const section = whole.sidecar ?? {};
    if (name === null) {
      whole[field] = value;
    } else if (isJsonObject(section)) {
      whole.sidecar = { ...section, [name]: value };
    }
  }
  return whole;
}

function parseFile(text: string): JsonObject {
  const json = parseText(text);
  if (!isJsonObject(json)) {
    throw new ConfigError('database.json does not hold a JSON object');
  }
  return json;
}

function parseText(text: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonError) {
      throw new ConfigError(`database.json: ${describeJsonFault(text, error)}`);
    }
    throw error;
  }
}

function parseKeyId(keyId: string, fields: Fields): string {
  if (!KID_PATTERN.test(keyId)) {
    throw fields.wrong('keyId', '1 to 64 letters, digits, dots, hyphens or underscores', keyId);
  }
  return keyId;
}

function parseNamespaces(fields: Fields): ReadonlySet<string> {
  const names = fields.texts('namespaces', 'namespace name', isNamespace);
  if (names === undefined || names.length === 0) {
    throw fields.wrong('namespaces', 'a list of at least one namespace name', names);
  }
  return new Set(names);
}

/** The database is this server's own, so that nothing has to be named. */
function parseEmbeddedNamespaces(fields: Fields): ReadonlySet<string> {
  const names = fields.texts('namespaces', 'namespace name', (name) => name === '*' || isNamespace(name));
  return new Set(names === undefined || names.length === 0 ? ['*'] : names);
}

/** An address, or a list of them. */
function parseTargets(fields: Fields): readonly [Target, ...Target[]] {
  if (!fields.isList('url')) return [parseTarget(fields.text('url'))];
  const urls = fields.texts('url', 'text', () => true) ?? [];
  const [first, ...others] = urls.map((url, index) => parseTarget(url, `url[${index}]`));
  if (first === undefined || urls.length > MAX_ADDRESSES) {
    throw fields.wrong('url', `an address, or a list of 1 to ${MAX_ADDRESSES} addresses`, urls);
  }
  const targets = [first, ...others] as const;
  for (const [index, { url }] of targets.entries()) {
    const same = targets.findIndex((target) => target.url === url);
    if (same !== index)
      throw new ConfigError(`url[${index}]: expected another address than url[${same}], got the same`);
  }
  return [...targets];
}

function parseAllowedHosts(fields: Fields, targets: readonly Target[]): readonly string[] {
  const hosts = fields.texts('allowedHosts', 'host name without port', (host) => isHostName(host));
  if (hosts !== undefined) return hosts.map((host) => host.toLowerCase());
  return [...new Set(targets.map(({ host }) => host).filter(isLoopback))];
}

/** A colon stands in an IPv6 address only; in anything else it would be a port. */
function isHostName(host: string): boolean {
  return HOST_NAME.test(host) && (!host.includes(':') || host.split(':').length > 2);
}

function isEmbedded(sidecar: Fields): boolean {
  const mode = sidecar.optionalText('mode') ?? 'external';
  if (mode !== 'external' && mode !== 'embedded') {
    throw sidecar.wrong('mode', '"external" or "embedded"', mode);
  }
  return mode === 'embedded';
}

/** Whether a connection may be made at all; a Unix socket leaves the machine nowhere. */
export function isHostAllowed(config: DatabaseConfig): boolean {
  return config.target.socketPath !== null || config.allowedHosts.includes(config.target.host);
}
