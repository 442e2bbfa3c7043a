import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { readFxResourceLine } from '#panel/console/fx-lines.ts';
import { plainText } from '#panel/console/line-text.ts';
import { isRecord } from '#panel/is-record.ts';
import { FX_USUAL_PROGRAMS } from '#panel/settings/fx-programs.ts';
import type { SettingValues } from '#panel/settings/panel-settings.ts';
import { type Health, LaunchError, type ServerBackend } from './backend.ts';
import { existingFolder, startWords } from './command.ts';

const CONFIG_FILE = 'server.cfg';
const DEFAULT_PORT = 30120;
const MAX_ANSWER_BYTES = 1_048_576;
const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** FiveM and RedM. The server's HTTP port reports that it is up, the players and the resources. */
export function fxserverBackend(settings: SettingValues): ServerBackend {
  const endpoint = readEndpoint(settings.serverRoot);
  return {
    launch() {
      const folder = existingFolder(settings.serverRoot);
      const [command, ...args] = startWords(settings.startLine || usualStartLine(folder), settings);
      if (command === undefined) throw new LaunchError('the settings have no start command');
      return { command, args, folder, hasChannel: false };
    },
    defaultStopLine: 'quit',
    isUpAt: 'answer',
    ask: (_process, signal) => askFxServer(endpoint, signal),
    reread: (process) => void process.write('refresh'),
    readLine: (text) => readFxResourceLine(plainText(text)),
  };
}

/** Start line from FXServer's documentation, for the folder of the server's data. */
function usualStartLine(folder: string): string {
  const program = FX_USUAL_PROGRAMS.find((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile());
  if (program === undefined) {
    throw new LaunchError(
      `the settings have no start command, and there is no ${FX_USUAL_PROGRAMS.join(' or ')} in the server folder`,
    );
  }
  return `./${program} +exec ${CONFIG_FILE}`;
}

/** Address from the `server.cfg` of this folder, or the usual one. */
export function readEndpoint(folder: string): Endpoint {
  try {
    return findEndpoint(readFileSync(join(folder, CONFIG_FILE), 'utf8'));
  } catch {
    return findEndpoint('');
  }
}

/** Address of the server's HTTP port, from this machine. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** The first `endpoint_add_tcp "address:port"` of a server.cfg. An address for all interfaces becomes the loopback address. */
export function findEndpoint(serverConfig: string): Endpoint {
  for (const line of serverConfig.split(/\r?\n/)) {
    const [, address = '', portText = ''] = /^\s*endpoint_add_tcp\s+"?\[?([^"\s\]]+)\]?:(\d+)"?/i.exec(line) ?? [];
    const port = Number(portText);
    if (isIP(address) !== 0 && port >= 1 && port <= 65_535) return { host: LOOPBACK[address] ?? address, port };
  }
  return { host: '127.0.0.1', port: DEFAULT_PORT };
}

export function baseUrl({ host, port }: Endpoint): string {
  return `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** @throws Error if the server does not answer, or not as an FXServer would */
export async function askFxServer(endpoint: Endpoint, signal: AbortSignal): Promise<Health> {
  const base = baseUrl(endpoint);
  const [info, players] = await Promise.all([
    readJson(`${base}/info.json`, signal),
    // An owner may have closed this path; the server is well without it.
    readJson(`${base}/players.json`, signal).catch(() => null),
  ]);
  const resources = isRecord(info) && Array.isArray(info.resources) ? info.resources : null;
  return {
    players: Array.isArray(players) ? players.length : null,
    resources: resources?.filter((name): name is string => typeof name === 'string') ?? null,
  };
}

export async function readJson(url: string, signal: AbortSignal): Promise<unknown> {
  const answer = await fetch(url, { signal, redirect: 'error' });
  if (!answer.ok || answer.body === null) {
    await answer.body?.cancel();
    throw new Error(`it answers with status ${answer.status}`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error('its answer is too long');
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}
