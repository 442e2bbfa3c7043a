// `npm start`: the sidecar on embedded SQLite with its panel, and through the panel the standalone game server with
// db_connector and the sample bundle (contract section 1). `npm start -- --vfs DIR` keeps configuration and data elsewhere.
// `npm run dev` is the same with `--watch`: a bundle that is changed in bundles/ is built and restarted at once.
import { mkdirSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { LogFile } from '../sidecar/embedded/log-file.ts';
import { ConsoleTerminal } from '../standalone/console-terminal.ts';
import { buildIfStale } from './build.ts';
import { BundleWatch } from './start/bundle-watch.ts';
import { type Addresses, SidecarProcess } from './start/sidecar-process.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The start-up is over when the console has been quiet for this long, or at the latest after the longer time. */
const QUIET_MS = 2500;
const LONGEST_START_MS = 20_000;

/** Commands of the server itself. Those of bundles are known to the server alone. */
const COMMANDS = ['bundles', 'help', 'quit', 'restart', 'start', 'stop'];
const OF_A_BUNDLE = ['restart', 'start', 'stop'];

const terminal = new ConsoleTerminal();
const say = (line: string): void => terminal.write(`${line}\n`);

function complete(before: readonly string[]): readonly string[] {
  const [command] = before;
  if (command === undefined) return COMMANDS;
  return before.length === 1 && OF_A_BUNDLE.includes(command) ? readdirSync(join(ROOT, 'dist/server/bundles')) : [];
}

interface Options {
  readonly vfs: string;
  /** Changed bundles are built and restarted. */
  readonly watch: boolean;
}

function readOptions(): Options {
  const options = { vfs: { type: 'string', default: join(ROOT, 'vfs') }, watch: { type: 'boolean' } } as const;
  const { vfs, watch = false } = parseArgs({ options }).values;
  return { vfs: resolve(vfs), watch };
}

function showBanner({ api, panel }: Addresses, { setupKey, backupPlan }: SidecarProcess): void {
  say('');
  say(`The game server is running. Its database API listens on ${api}`);
  say(`Open its panel in a browser: ${panel}`);
  if (setupKey !== null) say(`Setup key for the first visit: ${setupKey}`);
  if (backupPlan !== null) say(`A backup is made ${backupPlan}`);
  say('Three commands to try; type them here and press Enter (help shows all, quit stops everything):');
  say('  rp-richest        the ten richest characters');
  say('  rp-pay 1 2 12.50  moves money from one character to another');
  say('  db-status         how the connector is doing');
  say('');
}

class Town {
  readonly #sidecar: SidecarProcess;
  readonly #onSettled = Promise.withResolvers<void>();
  #quiet: NodeJS.Timeout | undefined;
  #stopping: Promise<void> | null = null;
  #typed = '';
  readonly #isWatching: boolean;
  #watch: BundleWatch | undefined;

  constructor({ vfs, watch }: Options) {
    this.#isWatching = watch;
    mkdirSync(join(vfs, 'logs'), { recursive: true, mode: 0o700 });
    this.#sidecar = new SidecarProcess({
      program: join(ROOT, 'dist/sidecar/keeper.js'),
      config: join(vfs, 'sidecar.json'),
      serverRoot: join(ROOT, 'dist/server'),
      log: new LogFile(join(vfs, 'logs/sidecar.log'), say),
      say,
      onConsoleLine: (line) => {
        if (!this.#isEcho(line)) say(line);
        this.#quiet?.refresh();
      },
    });
  }

  /** Runs until it is told to stop, or until the sidecar cannot go on. Resolves with the exit code. */
  async run(): Promise<number> {
    say('Starting the sidecar …');
    const ended = this.#sidecar.run();
    const addresses = await Promise.race([this.#sidecar.listening, ended.then(() => null)]);
    if (this.#stopping === null && addresses !== null) {
      this.#takeCommands();
      if (this.#isWatching) this.#watchBundles();
      void this.#settled().then(() => this.#stopping ?? showBanner(addresses, this.#sidecar));
      await ended;
    }
    const code = this.#stopping === null ? 1 : 0;
    await this.stop();
    return code;
  }

  stop(): Promise<void> {
    this.#watch?.close();
    this.#stopping ??= this.#sidecar.stop();
    return this.#stopping;
  }

  #watchBundles(): void {
    this.#watch = new BundleWatch({
      from: join(ROOT, 'bundles'),
      to: join(ROOT, 'dist/server/bundles'),
      type: (line) => this.#sidecar.type(line),
      say,
    });
    say('Watching bundles/: a bundle that changes is built and restarted.');
  }

  async #settled(): Promise<void> {
    this.#quiet = setTimeout(this.#onSettled.resolve, QUIET_MS);
    const latest = setTimeout(this.#onSettled.resolve, LONGEST_START_MS);
    await this.#onSettled.promise;
    clearTimeout(latest);
  }

  /** The server's console is this terminal. The end of our input stops nothing: without a terminal the server goes on serving. */
  #takeCommands(): void {
    terminal.read({
      onLine: (line) => {
        this.#typed = line;
        if (line.trim() === 'quit') void this.stop();
        else this.#sidecar.type(line);
      },
      onInterrupt: () => void this.stop(),
      complete,
    });
  }

  /** The console repeats what is typed; a terminal has shown it. */
  #isEcho(line: string): boolean {
    return terminal.isInteractive && line === `terminal> ${this.#typed}`;
  }
}

async function main(): Promise<void> {
  const options = readOptions();
  await buildIfStale(say);
  const town = new Town(options);
  // On Windows SIGHUP is the window that closes, SIGBREAK is Ctrl+Break.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'] as const) {
    process.on(signal, () => void town.stop());
  }
  const code = await town.run();
  if (code === 0) say('Stopped.');
  process.exit(code);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
