import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { BRIDGE_LEVELS } from '../panel/shapes/bridge.ts';
import { type CommandOptions, readingArguments, UsageError } from './arguments.ts';
import { BridgeSender } from './bridge-sender.ts';
import type { CommandProcess } from './command-process.ts';

export const BRIDGE_SEND_OPTIONS = {
  url: { type: 'string', value: 'URL', about: 'of the bridge, http://HOST:PORT' },
  'token-file': { type: 'string', value: 'FILE', about: 'the token of the panel; or the variable BRIDGE_TOKEN' },
  module: { type: 'string', value: 'NAME', about: 'what the lines are of (default stdin)' },
  level: { type: 'string', value: 'LEVEL', about: 'debug, info, warn or error (default info)' },
} as const satisfies CommandOptions;

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Parts of its process that the command uses; a test passes its own. */
export interface SendIo {
  readonly input: Readable;
  readonly printError: (line: string) => void;
}

const PROCESS_IO: SendIo = { input: process.stdin, printError: (line) => process.stderr.write(`${line}\n`) };

/**
 * `PROGRAM | bridge-send …`: hands each line of standard input to the panel of another machine. True once all are there.
 *
 * @throws UsageError
 */
export async function runBridgeSend(
  args: readonly string[],
  { environment }: Pick<CommandProcess, 'environment'>,
  { input, printError }: SendIo = PROCESS_IO,
): Promise<boolean> {
  const { values } = readingArguments(() => parseArgs({ args: [...args], options: BRIDGE_SEND_OPTIONS }));
  const { url, 'token-file': file, module = 'stdin', level = 'info' } = values;
  if (url === undefined || !/^https?:\/\/[^/?#@]+\/?$/.test(url)) {
    throw new UsageError('expected --url http://HOST:PORT, as the settings of the panel show it');
  }
  if (!(BRIDGE_LEVELS as readonly string[]).includes(level)) {
    throw new UsageError(`--level: expected ${BRIDGE_LEVELS.join(', ')}`);
  }
  const token = readToken(file, environment);
  const sender = new BridgeSender({ url: `${url.replace(/\/$/, '')}/lines`, token, printError });
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  lines.on('line', (text) => sender.add({ time: new Date().toISOString(), level, module, text }));
  const ended = new Promise<void>((resolve) => lines.once('close', resolve));
  const isRefused = await Promise.race([ended.then(() => false), sender.refused.then(() => true)]);
  lines.close();
  return !isRefused && (await sender.finish());
}

/** Never an argument: those can be seen by every user of the machine. */
function readToken(file: string | undefined, environment: NodeJS.ProcessEnv): string {
  const text = file === undefined ? environment.BRIDGE_TOKEN : readTokenFile(file);
  const token = text?.trim() ?? '';
  if (TOKEN.test(token)) return token;
  throw new UsageError('expected a token of the panel in --token-file FILE, or in the variable BRIDGE_TOKEN');
}

function readTokenFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`--token-file: ${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}
