import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { SettingValues } from '#panel/settings/panel-settings.ts';
import { LaunchError, type ServerBackend } from './backend.ts';
import { existingFolder, splitLine } from './command.ts';
import { askFxServer, type Endpoint, findEndpoint } from './fxserver-health.ts';

const CONFIG_FILE = 'server.cfg';
const DEFAULT_STOP_LINE = 'quit';

/** FiveM and RedM. Its own HTTP port tells that it is up, who plays, and what runs. */
export function fxserverBackend(settings: SettingValues): ServerBackend {
  const endpoint = readEndpoint(settings.serverRoot);
  return {
    launch() {
      const folder = existingFolder(settings.serverRoot);
      const [command, ...args] = splitLine(settings.startLine || usualStartLine(folder));
      if (command === undefined) throw new LaunchError('the settings have no start command');
      return { command, args, folder, hasChannel: false };
    },
    stopLine: ({ stopLine }) => stopLine || DEFAULT_STOP_LINE,
    isUpAt: 'answer',
    ask: (_process, signal) => askFxServer(endpoint, signal),
  };
}

/** As its documentation starts it, from the folder of the server's data. */
function usualStartLine(folder: string): string {
  const programs = process.platform === 'win32' ? ['FXServer.exe'] : ['run.sh'];
  const program = programs.find((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile());
  if (program === undefined) {
    throw new LaunchError(`the settings have no start command, and there is no ${programs[0]} in the server folder`);
  }
  return `./${program} +exec ${CONFIG_FILE}`;
}

function readEndpoint(folder: string): Endpoint {
  try {
    return findEndpoint(readFileSync(join(folder, CONFIG_FILE), 'utf8'));
  } catch {
    return findEndpoint('');
  }
}
