import type { ConfigFile, KeyOfFile } from '../config/config-schema.ts';
import { connectorUrl } from '../config/connector-url.ts';
import { FIRST_NAMESPACES, pretty } from '../config/first-start.ts';

/** What the game server needs to use a key. The secret itself stands there only where it is given. */
export function connectorLines(api: ConfigFile['api'], key: KeyOfFile, secret: string | null): string[] {
  const url = connectorUrl(api);
  const { kid, secretFile, namespaces } = key;
  const used = namespaces.includes('*') ? FIRST_NAMESPACES : namespaces;
  const connector = { url, keyId: kid, ...(secretFile === undefined ? {} : { secretFile }), namespaces: used };
  const shown = secret ?? `THE TEXT IN ${secretFile ?? 'ITS SECRET'}`;
  return [
    '',
    'vfs/database.json, with the secret file beside it (mode 0600):',
    ...pretty(connector).trimEnd().split('\n'),
    '',
    'or for FiveM and RedM in server.cfg:',
    `set db_connector_url "${url}"`,
    `set db_connector_key_id "${kid}"`,
    `set db_connector_secret "${shown}"`,
    'add_convar_permission db_connector read db_connector_secret',
    'ensure db_connector',
  ];
}
