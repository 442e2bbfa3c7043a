/** Lines that setup adds to a `server.cfg`. Text has one character per byte, so that every byte of the owner's stays. */

/** File beside `server.cfg`, readable for its owner only: people show their `server.cfg` to others. */
export const CONNECTOR_CFG = 'db_connector.cfg';
const FIRST_LINE = '// Written by the panel: how db_connector reaches the sidecar. Changes are kept.';
const BLOCK = [
  '// db_connector, added by the setup of the panel. Keep it above the resources that use the database.',
  `exec ${CONNECTOR_CFG}`,
  'ensure db_connector',
];
/** The first such line begins the start of resources. */
const STARTS_SOMETHING = /^[ \t]*(ensure|start|exec)[ \t]/i;

export function connectorCfg(url: string, keyId: string, secret: string): string {
  return [
    FIRST_LINE,
    `set db_connector_url "${url}"`,
    `set db_connector_key_id "${keyId}"`,
    `set db_connector_secret "${secret}"`,
    '// Makes the secret private; it has to stand before db_connector starts.',
    'add_convar_permission db_connector read db_connector_secret',
    '',
  ].join('\n');
}

/** Whether the owner has written lines about db_connector; setup then adds none. */
export function namesConnector(text: string): boolean {
  return text.split('\n').some((line) => /db_connector/.test(line) && !/^\s*(#|\/\/)/.test(line));
}

/** The owner's text with the lines of setup before the first resource, in the line ends of the file. */
export function withConnector(text: string): string {
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = text.split('\n');
  const at = lines.findIndex((line) => STARTS_SOMETHING.test(line));
  const block = `${[...BLOCK, ''].join(end)}${end}`;
  if (at >= 0) return [...lines.slice(0, at), block + lines.slice(at).join('\n')].join('\n');
  const gap = text === '' || text.endsWith('\n') ? '' : end;
  return `${text}${gap}${end}${block}`;
}
