import type { ConfigFile, KeyOfFile } from '../config/config-schema.ts';
import { connectorUrl } from '../config/connector-url.ts';
import { FIRST_NAMESPACES, pretty } from '../config/first-start.ts';

/** Lines that tell a game server to use a key. The secret itself is shown only if it is given. */
export function connectorLines(api: ConfigFile['api'], key: KeyOfFile, secret: string | null): string[] {
  const url = connectorUrl(api);
  const { kid, secretFile, namespaces } = key;
  const used = namespaces.includes('*') ? FIRST_NAMESPACES : namespaces;
  const connector = { url, keyId: kid, ...(secretFile === undefined ? {} : { secretFile }), namespaces: used };
  return [
    '',
    'vfs/database.json, with the secret file beside it (mode 0600):',
    ...pretty(connector).trimEnd().split('\n'),
    '',
    'or for FiveM and RedM in server.cfg:',
    `set db_connector_url "${url}"`,
    `set db_connector_key_id "${kid}"`,
    convarOf(secret, secretFile ?? 'ITS SECRET'),
    'add_convar_permission db_connector read db_connector_secret',
    'ensure db_connector',
  ];
}

/** Lines for a key whose secret alone has changed: database.json stays as it is. */
export function secretLines(path: string, secret: string | null): string[] {
  return [
    `   standalone server: the file ${path} takes the place of its secretFile (mode 0600)`,
    `   FiveM and RedM, in server.cfg: ${convarOf(secret, path)}`,
  ];
}

function convarOf(secret: string | null, file: string): string {
  return `set db_connector_secret "${secret ?? `THE TEXT IN ${file}`}"`;
}
