import { statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgsStringToArgv } from 'string-argv';
import type { SettingValues } from '#panel/settings/panel-settings.ts';
import { LaunchError, type ServerBackend } from './backend.ts';

/** Any program, by the owner's command line. The panel only knows that it lives and prints. */
export function commandBackend(settings: SettingValues): ServerBackend {
  return {
    launch() {
      const [command, ...args] = startWords(settings.startLine, settings);
      if (command === undefined) throw new LaunchError('the settings have no start command');
      return { command, args, folder: existingFolder(settings.serverRoot), hasChannel: false };
    },
    defaultStopLine: '',
    isUpAt: 'process',
    ask: settings.hangCommand === '' ? null : askByCommand(settings.hangCommand),
  };
}

/**
 * A program that prints needs no question. After half of the allowed silence it is sent the owner's cheap command once; any
 * output after it is a sign of life.
 */
function askByCommand(line: string): NonNullable<ServerBackend['ask']> {
  let askedAt = Number.NEGATIVE_INFINITY;
  return async (process, _signal, { silentMs, hangMs }) => {
    const now = performance.now();
    const hasSpokenSince = now - silentMs > askedAt;
    if (silentMs >= hangMs / 2 && hasSpokenSince) {
      process.write(line);
      askedAt = now;
    }
    throw new Error('only what it prints is an answer');
  };
}

/** Splits a line into words by the rules of a shell; no shell ever runs it. */
export function splitLine(line: string): string[] {
  return parseArgsStringToArgv(line);
}

const SERVER_PLACE = '{server}';

/** Words of a start line; `{server}` in them is the folder of the chosen version. @throws LaunchError if none is chosen */
export function startWords(line: string, { serverRoot, serverVersion }: SettingValues): string[] {
  const words = splitLine(line);
  if (!words.some((word) => word.includes(SERVER_PLACE))) return words;
  if (serverVersion.current === null) throw new LaunchError('the start command has {server}, and no version is chosen');
  const folder = join(serverRoot, 'server-updates/versions', serverVersion.current);
  return words.map((word) => word.replaceAll(SERVER_PLACE, existingFolder(folder)));
}

/** Checked first: for a missing folder the system's message names the program. */
export function existingFolder(folder: string): string {
  if (folder === '') throw new LaunchError('the settings have no server folder');
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new LaunchError(`the folder ${folder} does not exist`);
  }
  return folder;
}
