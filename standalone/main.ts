import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ConsoleCommands } from './console-commands.ts';
import { ConsoleLines } from './console-lines.ts';
import { ConsoleTerminal } from './console-terminal.ts';
import { describeError, findCulprit, Repetitions } from './failures.ts';
import { GameServer } from './game-server.ts';
import { openChannel, PanelChannel } from './panel-channel.ts';

const USAGE = `Usage: node main.js --root DIR [--vfs DIR]

  --root DIR  holds bundles/, a folder with a bundle.json for each bundle
  --vfs DIR   configuration and data (default DIR/vfs)
  --help      this text`;

/** Nothing happens as rarely; the timer only keeps the process alive after the end of standard input. */
const FOREVER_MS = 2_147_483_647;
/** With the 12 s for all bundles' stops this stays below the 15 s of contract section 9. */
const LAST_OUTPUT_MS = 2000;

/** On Windows SIGHUP is the window that closes, SIGBREAK is Ctrl+Break. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'] as const;

interface Arguments {
  readonly root: string;
  readonly vfs: string;
  /** File descriptor of the channel to the panel that has started this server, or null. */
  readonly panelChannel: number | null;
}

/** null: the usage was asked for. Throws with a line that says what is wrong. */
function readArguments(): Arguments | null {
  const { values } = parseArgs({
    options: {
      root: { type: 'string' },
      vfs: { type: 'string' },
      'panel-channel': { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) return null;
  if (values.root === undefined) throw new Error('--root DIR is missing');
  const root = resolve(values.root);
  if (statSync(join(root, 'bundles'), { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new Error(`--root: there is no folder ${join(root, 'bundles')}`);
  }
  const channel = values['panel-channel'];
  const panelChannel = channel === undefined ? null : Number(channel);
  return { root, vfs: resolve(values.vfs ?? join(root, 'vfs')), panelChannel };
}

/** From the package's file, which lies beside the built program and above its source. */
function readVersion(): string {
  for (const place of ['./package.json', '../package.json']) {
    try {
      const { version }: { version?: unknown } = JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8'));
      if (typeof version === 'string') return version;
    } catch {
      // The other place is left.
    }
  }
  return 'of unknown version';
}

function serve({ root, vfs, panelChannel }: Arguments): void {
  // A console that goes away must not end the game.
  process.stdout.on('error', () => {});
  const terminal = new ConsoleTerminal();
  const lines = new ConsoleLines((text) => terminal.write(text));
  const server: GameServer = new GameServer({ root, vfs, console: lines, onBundles: () => panel.bundlesChanged() });
  const panel = new PanelChannel(
    panelChannel === null ? null : openChannel(panelChannel),
    () => server.bundles,
    () => server.reread(),
  );
  const quit = stopOnce(server, lines);
  const commands = new ConsoleCommands(server, lines, quit);
  surviveBundles(server, lines);
  for (const signal of STOP_SIGNALS) process.on(signal, quit);
  setInterval(() => {}, FOREVER_MS);

  lines.say(`Standalone game server ${readVersion()}, Node.js ${process.version}, process ${process.pid}`);
  lines.say(`bundles in ${join(root, 'bundles')}`);
  lines.say(`configuration in ${vfs}`);
  terminal.read({
    onLine: (line) => commands.execute(line),
    onInterrupt: quit,
    complete: (before) => commands.complete(before),
  });
  server.startAll().then(
    () => lines.say(summary(server)),
    (error: unknown) => lines.say(`The bundles cannot be read: ${describeError(error)}`),
  );
}

function summary(server: GameServer): string {
  const named = (state: string) => server.bundles.filter((bundle) => bundle.state === state).map(({ name }) => name);
  const [started, failed] = [named('started'), named('failed')];
  const trouble = failed.length === 0 ? '' : `, ${failed.length} FAILED (${failed.join(', ')})`;
  return `${started.length} of ${server.bundles.length} bundles started${trouble}. help lists the commands.`;
}

function stopOnce(server: GameServer, lines: ConsoleLines): () => void {
  let isStopping = false;
  return () => {
    if (isStopping) return;
    isStopping = true;
    lines.say('Stopping …');
    server.stopAll().then(
      () => {
        lines.say('The server has stopped.');
        exitAfterOutput(0);
      },
      (error: unknown) => {
        lines.say(`The server stops with an error: ${describeError(error)}`);
        exitAfterOutput(1);
      },
    );
  };
}

/** `process.exit` drops what a slow reader has not taken yet. One that takes nothing is not waited for. */
function exitAfterOutput(code: number): void {
  setTimeout(() => process.exit(code), LAST_OUTPUT_MS);
  process.stdout.write('', () => process.exit(code));
}

/** An error that a bundle does not catch, in a timer for instance, ends neither it nor the others. */
function surviveBundles(server: GameServer, lines: ConsoleLines): void {
  const told = new Repetitions();
  const tell = (kind: string) => (error: unknown) => {
    const description = describeError(error);
    const times = told.count(description);
    if (times === 0) return;
    const culprit = findCulprit(error, server.bundles);
    const who = culprit === undefined ? 'no bundle is named in its stack' : `bundle ${culprit.name}`;
    const often = times === 1 ? '' : `, ${times} times since it was last told`;
    lines.say(`!!! ${kind} (${who}${often}), the server goes on: ${description}`);
  };
  process.on('uncaughtException', tell('UNCAUGHT ERROR'));
  process.on('unhandledRejection', tell('UNHANDLED REJECTION'));
}

function main(): void {
  let given: Arguments | null;
  try {
    given = readArguments();
  } catch (error) {
    process.stderr.write(`${(error as Error).message.split('\n', 1)[0]}\n\n${USAGE}\n`);
    process.exitCode = 1;
    return;
  }
  if (given === null) process.stdout.write(`${USAGE}\n`);
  else serve(given);
}

main();
