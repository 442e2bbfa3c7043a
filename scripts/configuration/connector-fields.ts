import { ConfigError } from '#connector/config/config-error.ts';
import { FIELDS, parseDatabaseConfig, SIDECAR_FIELDS } from '#connector/config/database-config.ts';
import { CONNECTOR_MEANINGS } from '#connector/config/field-meanings.ts';
import { type Field, withMeanings } from './field.ts';

type Json = string | number | readonly string[];

const LEAST = { url: 'http://127.0.0.1:20771', keyId: 'local', namespaces: ['game'] };
/** A value that each field refuses: its error is the accepted value in words. */
const REFUSED: Readonly<Record<string, Json>> = {
  url: 'x',
  keyId: '!',
  namespaces: [],
  allowedHosts: ['host:1'],
  'sidecar.mode': 'x',
};
const REFUSED_OTHERWISE = 0.5;

/** Every field of database.json, in the order of the reader's list. */
export function connectorFields(): Field[] {
  const paths = [...FIELDS.filter((name) => name !== 'sidecar'), ...SIDECAR_FIELDS.map((name) => `sidecar.${name}`)];
  const fields = paths.map((path) => ({ path, expected: expectationOf(path), defaultValue: defaultOf(path) }));
  return withMeanings(fields, CONNECTOR_MEANINGS);
}

function expectationOf(path: string): string {
  const [section = '', name] = path.split('.');
  const value = REFUSED[path] ?? REFUSED_OTHERWISE;
  const file = name === undefined ? { [section]: value } : { sidecar: { mode: 'embedded', [name]: value } };
  try {
    parseDatabaseConfig(JSON.stringify({ ...LEAST, ...file }));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const expected = /: expected (.*), got /.exec(error.message)?.[1];
    if (expected !== undefined) return error.message.startsWith(`${path}[0]:`) ? `a list, each ${expected}` : expected;
  }
  throw new Error(`${path}: no refusal that says what is expected`);
}

function defaultOf(path: string): unknown {
  if (Object.hasOwn(LEAST, path)) return undefined;
  if (path === 'sidecar.mode')
    return parseDatabaseConfig(JSON.stringify(LEAST)).target === null ? 'embedded' : 'external';
  const [name, ofSidecar] = path.split('.');
  const config = parseDatabaseConfig(
    JSON.stringify(ofSidecar === undefined ? LEAST : { sidecar: { mode: 'embedded' } }),
  );
  const value: unknown = Object.entries(config).find(([key]) => key === (ofSidecar ?? name))?.[1];
  return path === 'allowedHosts' ? null : (value ?? null);
}
