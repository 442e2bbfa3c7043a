import { statSync } from 'node:fs';
import { parseArgsStringToArgv } from 'string-argv';
import type { SettingValues } from '#panel/settings/panel-settings.ts';
import { LaunchError, type ServerBackend } from './backend.ts';

/** Any program: what the owner's command line says. Nothing is known of it but that it lives and prints. */
export function commandBackend(settings: SettingValues): ServerBackend {
  return {
    launch() {
      const [command, ...args] = splitLine(settings.startLine);
      if (command === undefined) throw new LaunchError('the settings have no start command');
      return { command, args, folder: existingFolder(settings.serverRoot), hasChannel: false };
    },
    defaultStopLine: '',
    isUpAt: 'process',
    ask: settings.hangCommand === '' ? null : askByCommand(settings.hangCommand),
  };
}

/**
 * A program that prints needs no question. One that has been silent for half of what it may is sent the owner's cheap command
 * once; whatever it prints then is a sign of life.
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

/** Into words as a shell would; no shell ever sees it. */
export function splitLine(line: string): string[] {
  return parseArgsStringToArgv(line);
}

/** The system's own message for a folder that is missing names the program instead. */
export function existingFolder(folder: string): string {
  if (folder === '') throw new LaunchError('the settings have no server folder');
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new LaunchError(`the folder ${folder} does not exist`);
  }
  return folder;
}
