import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Log } from '../log.ts';
import { makeOwnerOnly } from '../owner-only.ts';
import { VERSION } from '../program-folder.ts';
import { KEEPER_CHANNEL } from './channel/messages.ts';
import { Keeper } from './keeper.ts';
import { KEEPER_TIMES, type KeeperTimes } from './keeper-times.ts';
import { type OwnProgram, ReleaseChoice } from './release-choice.ts';
import { drainOutput, writeLine } from './sidecar-child.ts';

/** As `main.ts` has it. */
const DEFAULT_CONFIG = 'vfs/sidecar.json';
/** Set for the keeper of a release by the keeper that was started: the program folder of the latter, and its version. */
const OWN_VARIABLE = 'GAME_PANEL_PROGRAM';
/** Work of `main.js` that serves nothing. */
const PASSED_ON = ['--check', '--preflight', '--help', '-h', '--embedded'];
const STOP_SIGNALS: readonly NodeJS.Signals[] =
  process.platform === 'win32' ? ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'] : ['SIGINT', 'SIGTERM'];
const DRAIN_MS = 1000;
const FROM_SOURCE = import.meta.url.endsWith('.ts');

/** Runs `main.js` with these arguments: a service below a keeper, anything else as it is. Ends the process. */
export async function runKeeper(argv: readonly string[], times: KeeperTimes = KEEPER_TIMES): Promise<void> {
  const { config, isService } = readArguments(argv);
  const own = ownProgram();
  if (!isService) return passOn(own.main, argv);
  const choice = new ReleaseChoice(dirname(resolve(config)), own);
  if (choice.keeper !== null && (await replaceBy(choice.keeper, own))) return;
  delete process.env[OWN_VARIABLE];
  makeOwnerOnly();
  const log = new Log({ write: writeLine });
  const keeper = new Keeper({
    ...{ choice, args: argv, channel: KEEPER_CHANNEL, times },
    say: (level, text, fields) => log[level](text, { service: 'keeper', ...fields }),
  });
  for (const signal of STOP_SIGNALS) process.on(signal, () => keeper.stop());
  const code = await keeper.run();
  await drainOutput(DRAIN_MS);
  process.exit(code);
}

/** The first word that is no option names a command, as in `main.ts`. */
function readArguments(argv: readonly string[]): { readonly config: string; readonly isService: boolean } {
  const valued = { type: 'string' } as const;
  const options = { config: valued, 'server-root': valued } as const;
  const { values, positionals } = parseArgs({ args: [...argv], options, strict: false, allowPositionals: true });
  const isService = positionals.length === 0 && !argv.some((word) => PASSED_ON.includes(word));
  return { config: typeof values.config === 'string' ? values.config : DEFAULT_CONFIG, isService };
}

/** Program of the keeper that was started, beside this file. */
function ownProgram(): OwnProgram {
  const [version, ...folder] = (process.env[OWN_VARIABLE] ?? '').split(' ');
  if (version !== undefined && folder.length > 0) return { version, main: join(folder.join(' '), 'main.js') };
  return { version: VERSION, main: join(import.meta.dirname, FROM_SOURCE ? '../main.ts' : 'main.js') };
}

/** The keeper of the chosen release takes over. False if it is this one, or cannot be loaded. */
async function replaceBy(file: string, own: OwnProgram): Promise<boolean> {
  if (process.env[OWN_VARIABLE] !== undefined) return false;
  process.env[OWN_VARIABLE] = `${own.version} ${dirname(own.main)}`;
  try {
    await import(pathToFileURL(file).href);
    return true;
  } catch {
    return false;
  }
}

async function passOn(program: string, argv: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [program, ...argv], { stdio: 'inherit' });
  for (const signal of STOP_SIGNALS) process.on(signal, () => child.kill(signal));
  const [code] = (await once(child, 'close')) as [number | null];
  process.exit(code ?? 1);
}
