import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createMissing } from '../config/first-start.ts';
import { readConfigFile } from '../config/load-config.ts';
import { REPLACED_FOLDER } from '../program-folder.ts';
import type { CommandProcess } from './command.ts';
import { type CommandIo, terminalIo } from './command-io.ts';
import { connectorLines } from './connector-lines.ts';
import { CONFIG_OPTION, DEFAULT_CONFIG } from './option-table.ts';
import { shellWord } from './shell-word.ts';
import { readingArguments } from './usage-error.ts';

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
