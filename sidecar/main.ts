import { parseArgs } from 'node:util';
import { serverOptions } from './api/server-options.ts';
import { type CommandIo, terminalIo } from './commands/command-io.ts';
import { runDeadLetters } from './commands/dead-letters.ts';
import { isMove, runMove } from './commands/move-command.ts';
import { runQuarantine } from './commands/quarantine.ts';
import { runQueue } from './commands/queue.ts';
import { visibleText } from './commands/visible-text.ts';
import { ConfigError } from './config/config-error.ts';
import { createMissing } from './config/first-start.ts';
import { loadConfig, type SidecarConfig } from './config/load-config.ts';
import { Log, StandardOutput, traceOf } from './log.ts';
import { holdNursery } from './nursery.ts';
import { type RunningSidecar, serve } from './serve.ts';

const USAGE = `Usage: node main.js [--config FILE] [--check]
       node main.js quarantine list|restore|purge [ID…] [--config FILE] [--json]
       node main.js dead-letters list|retry|discard [ID…] [--config FILE] [--json]
       node main.js queue list [--config FILE] [--json]
       node main.js queue take-over NAMESPACE [--config FILE]
       node main.js copy --from FILE --to FILE [--namespace N]… [--replace | --compare]
       node main.js copy --to FILE --namespace N --discard
       node main.js import --url-file FILE --namespace N [--tables A,B] [--dry-run] [--config FILE]

  --config FILE  configuration, made at the first start (default vfs/sidecar.json)
  --check        only checks the configuration
  --json         lists one JSON object a line, also on a terminal
  --from, --to   configurations whose databases are copied from and to
  --namespace N  only this one; may stand several times (default all)
  --replace      deletes what the target holds in these namespaces first
  --compare      only compares both databases
  --discard      deletes what a copy that was cut off has left there
  --url-file     file with the mysql:// URL to import from; also --url-env NAME, --url URL
  --tables A,B   only these tables of it (default all)
  --dry-run      only writes the proposed schema and the report
  --out DIR      folder for both (default import-N); --proposal DIR takes a schema from there
  --time-zone Z  of naive datetimes: UTC (default), +02:00, Europe/Berlin
  --without-misfits  leaves out rows that do not fit, which are listed
  --help         this text`;

const DEFAULT_CONFIG = 'vfs/sidecar.json';

/** Work beside a running sidecar: the database keeps them apart. */
const COMMANDS: Readonly<
  Record<string, (args: readonly string[], config: SidecarConfig, io: CommandIo) => Promise<boolean>>
> = {
  quarantine: runQuarantine,
  'dead-letters': runDeadLetters,
  queue: runQueue,
};

interface Arguments {
  readonly command: readonly string[];
  readonly config: string;
  readonly isCheck: boolean;
  readonly isHelp: boolean;
  readonly isJson: boolean;
}

function readArguments(argv: readonly string[]): Arguments {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        config: { type: 'string' },
        check: { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    const { config = DEFAULT_CONFIG, check = false, help = false, json = false } = values;
    const [command] = positionals;
    if (command !== undefined && !Object.hasOwn(COMMANDS, command) && !help) {
      throw new Error(`unknown command ${command}`);
    }
    return { command: positionals, config, isCheck: check, isHelp: help, isJson: json };
  } catch (error) {
    throw new ConfigError(`${(error as Error).message.split('\n', 1)[0]}; --help tells more`);
  }
}

/** Starts the service and returns once it listens. */
async function start(file: string, output: StandardOutput): Promise<RunningSidecar> {
  const log = new Log(output);
  for (const made of createMissing(file, process.env)) log.info('made a file that was missing', { file: made });
  const config = loadConfig(file, process.env);
  for (const warning of config.warnings) log.warn(warning);
  return serve({ config, log: output });
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
    starting
      .then((running) => running.stop())
      .then(
        () => end(output, 0),
        (error: unknown) => fail(output, error),
      );
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}

async function end(output: StandardOutput, code: number): Promise<never> {
  await output.drain();
  process.exit(code);
}

/** One clear line for the operator. */
async function fail(output: StandardOutput, error: unknown): Promise<never> {
  await output.drain();
  const line = error instanceof Error ? error.message : String(error);
  process.stderr.write(`sidecar: ${visibleText(line.split('\n').join(' '))}\n`);
  process.exit(1);
}

/** Files that the configuration names must be there too, but for secrets, which a start makes. */
function check(config: SidecarConfig, file: string): void {
  serverOptions(config.api);
  for (const warning of config.warnings) process.stderr.write(`warning: ${warning}\n`);
  process.stdout.write(`${file} is a good configuration\n`);
}

/** False where it is none of these. */
async function runCommand([name, ...args]: readonly string[], file: string, isJson: boolean): Promise<boolean> {
  const run = COMMANDS[name ?? ''];
  if (run === undefined) return false;
  if (!(await run(args, loadConfig(file, process.env, true), terminalIo(isJson)))) process.exitCode = 1;
  return true;
}

async function move(argv: readonly string[]): Promise<void> {
  if (!(await runMove(argv))) process.exitCode = 1;
}

async function main(): Promise<void> {
  const output = new StandardOutput();
  try {
    const argv = process.argv.slice(2);
    if (isMove(argv[0]) && !argv.includes('--help')) return await move(argv);
    const { command, config: file, isCheck, isHelp, isJson } = readArguments(argv);
    if (isHelp) process.stdout.write(`${USAGE}\n`);
    else if (isCheck) check(loadConfig(file, process.env, true), file);
    else if (!(await runCommand(command, file, isJson))) {
      process.on('uncaughtException', (error) => {
        new Log(output).error('the sidecar ends for a fault of its own', { cause: traceOf(error) });
        void fail(output, new Error('it ends for a fault of its own; its log says where'));
      });
      holdNursery();
      const starting = start(file, output);
      stopOnSignal(starting, output);
      await starting;
    }
  } catch (error) {
    await fail(output, error);
  }
}

await main();
