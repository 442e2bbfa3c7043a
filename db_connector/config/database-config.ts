import { KID_PATTERN } from '../protocol/envelope.ts';
import { isNamespace } from '../protocol/identifiers.ts';
import { isJsonObject, type Json, JsonError, parseJson } from '../protocol/json.ts';
import {
  CONNECTOR_DEFAULT_MAX_ANSWER_BYTES,
  CONNECTOR_DEFAULT_MAX_CONCURRENT,
  CONNECTOR_DEFAULT_SLOW_CALL_MS,
  CONNECTOR_DEFAULT_TIMEOUT_MS,
} from '../protocol/limits.ts';
import { ConfigError } from './config-error.ts';
import { Fields } from './fields.ts';
import { isLoopback, parseTarget, type Target } from './target.ts';

/** `vfs/database.json`, checked and complete (contract section 8). */
export interface DatabaseConfig {
  readonly target: Target;
  readonly keyId: string;
  /** As written: relative to the folder of the file. */
  readonly secretFile: string | null;
  readonly namespaces: ReadonlySet<string>;
  /** For one attempt. */
  readonly timeoutMs: number;
  readonly maxConcurrent: number;
  readonly maxAnswerBytes: number;
  /** Host names in lower case, without port. */
  readonly allowedHosts: readonly string[];
  /** A call that takes longer is a line on the console; 0 switches that off. */
  readonly slowCallMs: number;
  /** As written: relative to the folder of the file. */
  readonly caFile: string | null;
}

const FIELDS = [
  'url',
  'keyId',
  'secretFile',
  'namespaces',
  'timeoutMs',
  'maxConcurrent',
  'maxAnswerBytes',
  'allowedHosts',
  'slowCallMs',
  'caFile',
  'sidecar',
];
const HOST_NAME = /^[a-z0-9._:-]+$/i;
/** Longest text that V8 holds; an answer beyond it could not be read at all. */
const MAX_ANSWER_BYTES = 512 * 1024 * 1024 - 1024;

/**
 * Reads the text of `database.json`.
 *
 * @param overrides stand in place of its fields
 * @throws ConfigError `field: expected …, got …`
 */
export function parseDatabaseConfig(text: string, overrides: Readonly<Record<string, string>> = {}): DatabaseConfig {
  const fields = new Fields({ ...parseFile(text), ...overrides });
  fields.refuseOthers(FIELDS);
  const target = parseTarget(fields.text('url'));
  refuseEmbedded(fields.section('sidecar'));
  return Object.freeze({
    target,
    keyId: parseKeyId(fields),
    secretFile: fields.optionalText('secretFile'),
    namespaces: parseNamespaces(fields),
    timeoutMs: fields.integer('timeoutMs', { min: 100, max: 120_000, default: CONNECTOR_DEFAULT_TIMEOUT_MS }),
    maxConcurrent: fields.integer('maxConcurrent', { min: 1, max: 256, default: CONNECTOR_DEFAULT_MAX_CONCURRENT }),
    maxAnswerBytes: fields.integer('maxAnswerBytes', {
      min: 1024,
      max: MAX_ANSWER_BYTES,
      default: CONNECTOR_DEFAULT_MAX_ANSWER_BYTES,
    }),
    allowedHosts: parseAllowedHosts(fields, target),
    slowCallMs: fields.integer('slowCallMs', { min: 0, max: 600_000, default: CONNECTOR_DEFAULT_SLOW_CALL_MS }),
    caFile: fields.optionalText('caFile'),
  });
}

function parseFile(text: string) {
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
      const line = text.slice(0, error.position).split('\n').length;
      throw new ConfigError(`database.json is not JSON: ${error.kind} in line ${line}`);
    }
    throw error;
  }
}

function parseKeyId(fields: Fields): string {
  const keyId = fields.text('keyId');
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

function parseAllowedHosts(fields: Fields, target: Target): readonly string[] {
  const hosts = fields.texts('allowedHosts', 'host name without port', (host) => isHostName(host));
  return hosts?.map((host) => host.toLowerCase()) ?? (isLoopback(target.host) ? [target.host] : []);
}

/** A colon stands in an IPv6 address only; in anything else it would be a port. */
function isHostName(host: string): boolean {
  return HOST_NAME.test(host) && (!host.includes(':') || host.split(':').length > 2);
}

function refuseEmbedded(sidecar: Fields): void {
  sidecar.refuseOthers(['mode']);
  const mode = sidecar.optionalText('mode') ?? 'external';
  if (mode === 'embedded') {
    throw new ConfigError('sidecar.mode: "embedded" is not supported yet; expected "external"');
  }
  if (mode !== 'external') {
    throw sidecar.wrong('mode', '"external"', mode);
  }
}

/** Whether a connection may be made at all; a Unix socket leaves the machine nowhere. */
export function isHostAllowed(config: DatabaseConfig): boolean {
  return config.target.socketPath !== null || config.allowedHosts.includes(config.target.host);
}
