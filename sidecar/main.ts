import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkFiles } from './check-files.ts';
import { DEFAULT_CONFIG, readingArguments, refuseEmpty, UsageError } from './commands/arguments.ts';
import { COMMAND_PROCESS, outliveReaders } from './commands/command-process.ts';
import { COMMANDS } from './commands/command-table.ts';
import { helpOf, helpOfAll } from './commands/help.ts';
import { visibleText } from './commands/lines.ts';
import { systemFault } from './commands/system-fault.ts';
import { createMissing } from './config/first-start.ts';
import { loadConfig, type SidecarConfig } from './config/load-config.ts';
import { workForOwners } from './file-owner.ts';
import { KeeperLink } from './keeper/channel/keeper-link.ts';
import { Log, type LogSink, StandardOutput, traceOf } from './log.ts';
import { LOG_EVENT } from './log-event.ts';
import { MoveBusy } from './moving/report.ts';
import { collectInTurn, holdNurserySoon } from './nursery.ts';
import { makeOwnerOnly } from './owner-only.ts';
import { preflight } from './preflight.ts';
import { REPLACED_FOLDER } from './program-folder.ts';
import type { RunningSidecar } from './serve.ts';
import { obeyKeeper, type SidecarEnds } from './under-keeper.ts';
import { withBackups } from './with-backups.ts';
import { presetServer, withTerminal } from './with-terminal.ts';

/** No operator is left to end it by hand: it ends even if work is left after the highest `drainOnStopMs`. */
const LONGEST_STOP_MS = 660_000;

/**
 * On Windows SIGHUP is the window that closes and SIGBREAK is Ctrl+Break. Elsewhere SIGHUP keeps its meaning: under nohup it
 * must not stop the service.
 */
const STOP_SIGNALS: readonly NodeJS.Signals[] =
  process.platform === 'win32' ? ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'] : ['SIGINT', 'SIGTERM'];

interface ServiceArguments {
  readonly config: string;
  /** null: no file was named. */
  readonly namedConfig: string | null;
  readonly isCheck: boolean;
  /** Reports on itself and ends (`preflight.ts`). */
  readonly isPreflight: boolean;
  /** Root of a standalone server that the panel runs from the start, its console on our input and in our log; null for none. */
  readonly serverRoot: string | null;
  /** A game server's connector has started it, and tells the rest on standard input. */
  readonly isEmbedded: boolean;
}

function readServiceArguments(argv: readonly string[]): ServiceArguments {
  return readingArguments(() => {
    const options = {
      config: { type: 'string' },
      check: { type: 'boolean' },
      preflight: { type: 'boolean' },
      embedded: { type: 'boolean' },
      'server-root': { type: 'string' },
    } as const;
    const { values } = parseArgs({ args: [...argv], options });
    const { config: namedConfig = null, check = false, preflight: isPreflight = false, embedded = false } = values;
    const { 'server-root': serverRoot = null } = values;
    const config = namedConfig ?? DEFAULT_CONFIG;
    return { config, namedConfig, isCheck: check, isPreflight, isEmbedded: embedded, serverRoot };
  });
}

/** The first word that is no option names the command, also behind `--config FILE`; null for the service. */
function commandOf(argv: readonly string[]): { readonly name: string; readonly args: readonly string[] } | null {
  const valued = { type: 'string' } as const;
  const { tokens } = parseArgs({
    ...{ args: [...argv], options: { config: valued, 'server-root': valued }, strict: false },
    ...{ allowPositionals: true, tokens: true },
  });
  const first = tokens.find((token) => token.kind === 'positional');
  return first === undefined ? null : { name: first.value, args: argv.toSpliced(first.index, 1) };
}

/** Most of the program, which no command reads. */
async function serving() {
  return (await import('./serve.ts')).serve;
}

/** Starts the service and returns once it listens. */
async function start(
  { config: file, serverRoot }: ServiceArguments,
  output: StandardOutput,
  keeper: KeeperLink | null,
): Promise<RunningSidecar> {
  const log = new Log(output);
  const serve = await serving();
  const made = createMissing(file, process.env, REPLACED_FOLDER);
  for (const path of made) log.info('made a file that was missing', { event: LOG_EVENT.fileMade, file: path });
  const isNew = made.includes(resolve(file));
  const config = loadConfig(file, process.env);
  for (const warning of config.warnings) log.warn(warning);
  if (serverRoot === null)
    return withBackups(await serve({ config, log: output, panel: { keeper } }), config, log, isNew);
  if (!config.panel.enabled) throw new Error('panel.enabled: --server-root needs the panel, which runs the server');
  const panel = { ...presetServer(resolve(serverRoot), config.folder), keeper };
  const running = withTerminal(await serve({ config, log: output, panel }), process.stdin, log);
  return withBackups(running, config, log, isNew);
}

/**
 * The first signal ends in order, a second one at once. Set up before it listens: who reads that line may stop it in the
 * same moment.
 */
function stopOnSignal(starting: Promise<RunningSidecar>, output: StandardOutput): void {
  let isStopping = false;
  const stop = (signal: string) => {
    if (isStopping) process.exit(1);
    isStopping = true;
    new Log(output).info('stopping', { signal });
    stopAndEnd(starting, output);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, stop);
}

/**
 * A sidecar that a game server started lives as long as that server, which may still have data to save when a terminal or
 * a service manager sends a signal to both. So only the end of its input ends it.
 */
function stopWithParent(starting: Promise<RunningSidecar>, output: StandardOutput): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'] as const) process.on(signal, () => {});
  process.stdin
    .once('close', () => {
      // The connector kills a sidecar that does not say this at once: it hangs.
      output.write('{"msg":"stopping"}');
      setTimeout(() => process.exit(1), LONGEST_STOP_MS).unref();
      stopAndEnd(starting, output);
    })
    .resume();
}

/** @param keeper ends this sidecar alone: the game server runs on, for the sidecar after it */
function stopAndEnd(starting: Promise<RunningSidecar>, output: StandardOutput, keeper: KeeperLink | null = null): void {
  starting
    .then((running) => running.stop(keeper !== null))
    .then(() => keeper?.leave())
    .then(
      () => end(output, 0),
      (error: unknown) => fail(output, error),
    );
}

/** At once: another keeper may start another sidecar. The next one ends the game server that is left. */
function endWithKeeper(): void {
  process.stderr.write('sidecar: its keeper has ended, so it ends too\n');
  process.exit(1);
}

function endsUnder(keeper: KeeperLink, output: StandardOutput): SidecarEnds {
  return {
    stop(starting) {
      new Log(output).info('stopping');
      stopAndEnd(starting, output);
    },
    letGo(starting) {
      new Log(output).info('letting go of the game server for another release');
      stopAndEnd(starting, output, keeper);
    },
  };
}

async function end(output: StandardOutput, code: number): Promise<never> {
  await output.drain();
  process.exit(code);
}

/** Writes a single clear line for the operator. */
async function fail(output: StandardOutput, error: unknown): Promise<never> {
  await output.drain();
  const line = systemFault(error) ?? (error instanceof Error ? error.message : String(error));
  process.stderr.write(`sidecar: ${visibleText(line.split('\n').join(' '))}\n`);
  process.exit(exitCodeOf(error));
}

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return 2;
  return error instanceof MoveBusy ? MoveBusy.exitCode : 1;
}

async function check(config: SidecarConfig, file: string): Promise<void> {
  await checkFiles(config, process.env);
  const { addressFaults } = await import('./commands/doctor-addresses.ts');
  const [fault] = await addressFaults(config);
  if (fault !== undefined) throw new Error(`${file}: ${fault}`);
  for (const warning of config.warnings) process.stderr.write(`warning: ${warning}\n`);
  process.stdout.write(`${file} is a good configuration\n`);
}

async function runCommand({ name, args }: { readonly name: string; readonly args: readonly string[] }): Promise<void> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) throw new UsageError(`unknown command ${name}; --help shows them all`);
  if (isHelp(args)) return void process.stdout.write(helpOf(name, command));
  workForOwners();
  if (!(await command.run(args, COMMAND_PROCESS))) process.exitCode = 1;
}

function isHelp(args: readonly string[]): boolean {
  return args.includes('--help') || args.includes('-h');
}

async function runService(argv: readonly string[], output: StandardOutput): Promise<void> {
  const given = readServiceArguments(argv);
  const { config: file, isCheck, isEmbedded } = given;
  if (given.isPreflight) {
    process.stdout.write(`${JSON.stringify(preflight(given.namedConfig, process.env))}\n`);
    return;
  }
  // Before its input flows.
  const embedded = isEmbedded ? await import('./embedded/start-embedded.ts') : null;
  if (isCheck && embedded !== null) return embedded.checkEmbedded(process.stdin).finally(() => process.stdin.destroy());
  if (isCheck) return check(loadConfig(file, process.env, true), file);
  let sink: LogSink = output;
  process.on('uncaughtException', (error) => {
    new Log(sink).error('the sidecar ends for a fault of its own', { cause: traceOf(error) });
    void fail(output, new Error('it ends for a fault of its own; its log says where'));
  });
  collectInTurn();
  const useLog = (log: LogSink) => {
    sink = log;
  };
  const keeper = isEmbedded ? null : await KeeperLink.open(process.env, endWithKeeper);
  const starting = embedded?.startEmbedded(process.stdin, output, useLog) ?? start(given, output, keeper);
  if (isEmbedded) stopWithParent(starting, output);
  else if (keeper !== null) obeyKeeper(keeper, starting, endsUnder(keeper, output));
  else stopOnSignal(starting, output);
  await starting;
  holdNurserySoon();
}

async function main(): Promise<void> {
  makeOwnerOnly();
  const output = new StandardOutput();
  outliveReaders();
  try {
    const argv = process.argv.slice(2);
    refuseEmpty(argv);
    const command = commandOf(argv);
    if (command !== null) await runCommand(command);
    else if (isHelp(argv)) process.stdout.write(helpOfAll(COMMANDS));
    else await runService(argv, output);
  } catch (error) {
    await fail(output, error);
  }
}

await main();
