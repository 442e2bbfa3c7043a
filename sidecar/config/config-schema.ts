import * as z from 'zod';
import { isNamespace } from '#protocol/identifiers.ts';
import {
  DEFAULT_AUTH_FAILURES_PER_MINUTE,
  DEFAULT_LOCKOUT_SECONDS,
  DEFAULT_MAX_ANSWER_BYTES,
  DEFAULT_MAX_BODY_BYTES,
  DEFAULT_MAX_INSERT_ROWS,
  DEFAULT_MAX_PAYLOAD_CHARS,
  DEFAULT_MAX_ROWS,
  DEFAULT_MAX_SKEW_SECONDS,
  DEFAULT_MAX_STREAMS,
  DEFAULT_PER_ADDRESS_PER_SECOND,
  DEFAULT_PER_KEY_PER_SECOND,
  DEFAULT_POOL_SIZE,
  DEFAULT_REQUEST_TIMEOUT_MS,
  DEFAULT_STATEMENT_TIMEOUT_MS,
} from '#protocol/limits.ts';
import { OPERATIONS } from '#protocol/operations.ts';
import { backupSection } from './backup.ts';
import {
  flag,
  host,
  hostsOrRanges,
  instant,
  integer,
  listOf,
  nullableText,
  oneOf,
  ranges,
  rule,
  text,
} from './rules.ts';
import { writeBehindSection } from './write-behind.ts';

const MAX_BYTES = 2 ** 28;

const api = z.strictObject({
  host: host().default('127.0.0.1'),
  /** 0 means any free port. */
  port: integer(0, 65535).default(20771),
  /** With a socket there is no TCP. */
  socketPath: nullableText('the path of a Unix socket').default(null),
  tls: z.strictObject({ certFile: text(), keyFile: text() }).nullable().default(null),
  requireHttps: oneOf('always', 'non-loopback', 'never').default('non-loopback'),
  trustedProxies: ranges().default([]),
  maxStreams: integer(0, 10_000).default(DEFAULT_MAX_STREAMS),
  maxSkewSeconds: integer(1, 3600).default(DEFAULT_MAX_SKEW_SECONDS),
  requestTimeoutMs: integer(100, 120_000).default(DEFAULT_REQUEST_TIMEOUT_MS),
  metrics: oneOf('loopback', 'all', 'none').default('loopback'),
});

const database = z.strictObject({
  provider: oneOf('sqlite', 'postgres', 'mysql', 'mongodb').default('sqlite'),
  /** SQLite only. */
  file: text('the path of a file').optional(),
  /** Servers only, in exactly one place; it may hold a password. */
  url: text('a URL').optional(),
  urlFile: text('the path of a file').optional(),
  urlEnv: text('the name of an environment variable').optional(),
  /** Connections; of SQLite threads: one writes, the others read. */
  poolSize: integer(1, 64).default(DEFAULT_POOL_SIZE),
  statementTimeoutMs: integer(10, 120_000).default(DEFAULT_STATEMENT_TIMEOUT_MS),
  causalReads: flag().default(true),
});

const kid = rule<string>(
  '1 to 64 letters, digits, ".", "_" or "-"',
  'text',
  (value) => typeof value === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(value),
);

const key = z.strictObject({
  kid,
  secretFile: text('the path of a file').optional(),
  secretEnv: text('the name of an environment variable').optional(),
  secret: text().optional(),
  previousSecretFile: text('the path of a file').optional(),
  previousUntil: instant().optional(),
  operations: listOf('names of operations, or "*"', (name) => name === '*' || Object.hasOwn(OPERATIONS, name)),
  namespaces: listOf('namespaces, or "*"', (name) => name === '*' || isNamespace(name)),
  allowUnfilteredWrites: flag().default(false),
  addresses: ranges().default([]),
});

const limits = z.strictObject({
  maxRows: integer(1, 100_000).default(DEFAULT_MAX_ROWS),
  maxInsertRows: integer(1, 100_000).default(DEFAULT_MAX_INSERT_ROWS),
  maxBodyBytes: integer(1, MAX_BYTES).default(DEFAULT_MAX_BODY_BYTES),
  maxPayloadChars: integer(1, MAX_BYTES).default(DEFAULT_MAX_PAYLOAD_CHARS),
  maxAnswerBytes: integer(1, MAX_BYTES).default(DEFAULT_MAX_ANSWER_BYTES),
  perKeyPerSecond: integer(1, 1_000_000).default(DEFAULT_PER_KEY_PER_SECOND),
  perAddressPerSecond: integer(1, 1_000_000).default(DEFAULT_PER_ADDRESS_PER_SECOND),
  authFailuresPerMinute: integer(1, 10_000).default(DEFAULT_AUTH_FAILURES_PER_MINUTE),
  lockoutSeconds: integer(1, 86_400).default(DEFAULT_LOCKOUT_SECONDS),
});

const panel = z.strictObject({
  enabled: flag().default(true),
  host: host().default('127.0.0.1'),
  /** 0 means any free port. */
  port: integer(0, 65535).default(20772),
  data: text('the path of a file').default('data/panel.sqlite'),
  /** Where the LAN bridge listens once it is switched on in the panel: other machines are to reach it. */
  bridgeHost: host().default('0.0.0.0'),
  publicUrl: rule<string | null>(
    'null, or http:// or https:// and a host, with nothing behind it',
    'text',
    isOrigin,
  ).default(null),
  allowedHosts: listOf("host names, with a port where it is another one than the panel's", isHostName).default([]),
  trustedProxies: ranges().default([]),
  caFile: text('null, or the path of a file').nullable().default(null),
  git: text('null, or the path of a program').nullable().default(null),
  updates: z
    .strictObject({
      keys: listOf('keys of releases: base64 of 32 bytes', isReleaseKey).default([]),
      allowUnsigned: flag().default(false),
    })
    .prefault({}),
  notices: z
    .strictObject({
      privateHosts: hostsOrRanges().default([]),
    })
    .prefault({}),
});

function isReleaseKey(key: string): boolean {
  return /^[A-Za-z0-9+/]{43}=$/.test(key);
}

/** `https://panel.example.org`, maybe with a port. */
function isOrigin(value: unknown): boolean {
  if (value === null) return true;
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  const url = new URL(value);
  return /^https?:$/.test(url.protocol) && (url.origin === value || `${url.origin}/` === value);
}

function isHostName(name: string): boolean {
  return /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(:[0-9]{1,5})?$/i.test(name);
}

/** sidecar.json (contract section 2). Each rule's error is what it expects, in words. */
export const configSchema = z
  .strictObject({
    api: api.prefault({}),
    database: database.prefault({}),
    keys: z
      .array(key)
      .check(z.refine((keys) => keys.length > 0, { error: 'at least one key', abort: true }))
      .check(refuseSameKids),
    schema: z.strictObject({ removed: oneOf('quarantine', 'drop', 'deny').default('quarantine') }).prefault({}),
    limits: limits.prefault({}),
    panel: panel.prefault({}),
    writeBehind: writeBehindSection.prefault({}),
    backup: backupSection.prefault({}),
  })
  .check(refuseSamePort);

/** Two services on one port: the second one could not start. */
function refuseSamePort({ value: { api, panel: ofPanel }, issues }: z.core.ParsePayload<PortsOfFile>): void {
  const isSamePort = api.socketPath === null && ofPanel.enabled && api.port === ofPanel.port && api.port !== 0;
  const isSameHost = [api.host, ofPanel.host].some((name) => name === '0.0.0.0' || name === '::');
  if (!isSamePort || !(isSameHost || api.host === ofPanel.host)) return;
  const message = `${api.port} is api.port too; choose another port`;
  issues.push({ code: 'custom', input: ofPanel.port, path: ['panel', 'port'], message, params: { isSentence: true } });
}

interface PortsOfFile {
  readonly api: Pick<z.output<typeof api>, 'host' | 'port' | 'socketPath'>;
  readonly panel: Pick<z.output<typeof panel>, 'host' | 'port' | 'enabled'>;
}

export type ConfigFile = z.output<typeof configSchema>;
export type KeyOfFile = ConfigFile['keys'][number];

function refuseSameKids({ value, issues }: z.core.ParsePayload<readonly { kid: string }[]>): void {
  const kids = value.map((entry) => entry.kid);
  const twice = kids.find((kid, index) => kids.indexOf(kid) !== index);
  if (twice === undefined) return;
  const message = `the kid "${twice}" is used twice`;
  issues.push({ code: 'custom', input: value, message, params: { isSentence: true } });
}
