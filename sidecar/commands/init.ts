import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { ConfigFile, KeyOfFile } from '../config/config-schema.ts';
import { connectorUrl } from '../config/connector-url.ts';
import { createMissing, FIRST_NAMESPACES, pretty } from '../config/first-start.ts';
import { readConfigFile } from '../config/load-config.ts';
import { REPLACED_FOLDER } from '../program-folder.ts';
import { CONFIG_OPTION, DEFAULT_CONFIG, readingArguments } from './arguments.ts';
import { type CommandIo, type CommandProcess, terminalIo } from './command-process.ts';

export const INIT_OPTIONS = CONFIG_OPTION;

/** `init`: what the first start makes (contract section 1), and what to do with it. Overwrites nothing. */
export async function runInit(
  args: readonly string[],
  { environment }: Pick<CommandProcess, 'environment'>,
  io: Pick<CommandIo, 'print'> = terminalIo(false),
): Promise<boolean> {
  const { values } = readingArguments(() => parseArgs({ args: [...args], options: INIT_OPTIONS }));
  const file = values.config ?? DEFAULT_CONFIG;
  const isThere = existsSync(file);
  const made = createMissing(file, environment, REPLACED_FOLDER);
  for (const path of made) io.print(`made ${path}`);
  if (isThere)
    io.print(`${resolve(file)} is there already and stays as it is${made.length === 0 ? '; nothing was missing' : ''}`);
  const connectorFile = join(dirname(resolve(file)), 'database.json');
  if (!isThere && !made.includes(connectorFile)) {
    io.print(`${connectorFile} is there already and stays as it is: compare it with what follows`);
  }
  const { config } = readConfigFile(file, environment);
  const [key] = config.keys;
  io.print('');
  io.print(`Next: start the sidecar with node main.js --config ${shellWord(file)}`);
  io.print(`and put ${connectorFile} into the vfs folder of the game server, or write there:`);
  for (const line of key === undefined ? [] : connectorLines(config.api, key, null)) io.print(line);
  return true;
}

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

/** A path as one word of a command line, for sh and for Windows. */
function shellWord(path: string): string {
  if (/^[\w./\\:@%+=,~-]+$/.test(path)) return path;
  return process.platform === 'win32' ? `"${path}"` : `'${path.replaceAll("'", "'\\''")}'`;
}
