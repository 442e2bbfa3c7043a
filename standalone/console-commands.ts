import { CommandLineError, splitCommandLine } from './command-table.ts';
import type { ConsoleLines } from './console-lines.ts';
import { describeError } from './failures.ts';
import type { GameServer } from './game-server.ts';

/** Commands that take the name of a bundle. */
const OF_A_BUNDLE = new Set(['start', 'stop', 'restart']);

/** The server's own commands, and what is typed. */
export class ConsoleCommands {
  readonly #server: GameServer;
  readonly #console: ConsoleLines;

  /** @param quit stops the server */
  constructor(server: GameServer, console: ConsoleLines, quit: () => void) {
    this.#server = server;
    this.#console = console;
    this.#register('bundles', 'all bundles, and how they are doing', () => this.#showBundles());
    this.#registerFor('start', 'starts a bundle, what it depends on first', (name) => server.start(name));
    this.#registerFor('stop', 'stops a bundle, what depends on it first', (name) => server.stop(name));
    this.#registerFor('restart', 'stops a bundle and starts it afresh', (name) => server.restart(name));
    this.#add('say', 'TEXT: prints an announcement for the players', (words) =>
      this.#console.say(words.length === 0 ? 'Usage: say TEXT' : `say: ${words.join(' ')}`),
    );
    this.#register('help', 'this list', () => this.#showHelp());
    this.#register('quit', 'stops all bundles and ends the server', quit);
  }

  /** Runs a line of the console. Never throws. */
  execute(line: string): void {
    try {
      const [name, ...args] = splitCommandLine(line);
      if (name !== undefined) this.#run(name, args);
    } catch (error) {
      this.#console.say(error instanceof CommandLineError ? `Not understood: ${error.message}` : describeError(error));
    }
  }

  /** Words that can follow those typed: a command, then the name of a bundle if one is expected. */
  complete(before: readonly string[]): string[] {
    const [command] = before;
    if (command === undefined) return this.#server.commands.all().map(({ name }) => name);
    return before.length === 1 && OF_A_BUNDLE.has(command) ? this.#server.bundles.map(({ name }) => name) : [];
  }

  #run(name: string, args: string[]): void {
    const command = this.#server.commands.find(name);
    if (command === undefined) {
      this.#console.say(`Unknown command ${name}. help lists all of them.`);
      return;
    }
    const reply = (line: string) => this.#console.say(line);
    const fail = (error: unknown) => {
      const owner = command.bundle === undefined ? 'the server' : `bundle ${command.bundle}`;
      this.#console.say(`The command ${name} of ${owner} threw: ${describeError(error)}`);
    };
    try {
      const returned = command.run(args, reply);
      if (returned instanceof Promise) returned.catch(fail);
    } catch (error) {
      fail(error);
    }
  }

  #register(name: string, description: string, run: () => unknown): void {
    this.#add(name, description, (args) => (args.length === 0 ? run() : this.#console.say(`Usage: ${name}`)));
  }

  /** A command that takes the name of a bundle. */
  #registerFor(name: string, description: string, run: (bundle: string) => unknown): void {
    this.#add(name, `NAME: ${description}`, ([bundle, ...more]) =>
      bundle === undefined || more.length > 0 ? this.#console.say(`Usage: ${name} NAME`) : run(bundle),
    );
  }

  #add(name: string, description: string, run: (args: string[]) => unknown): void {
    this.#server.commands.register({ name, description, bundle: undefined, run });
  }

  #showBundles(): void {
    const rows = this.#server.bundles.map(({ name, manifest, state, reason }) => [
      name,
      state,
      manifest?.version ?? '-',
      reason || (manifest?.description ?? ''),
    ]);
    for (const line of aligned([['BUNDLE', 'STATE', 'VERSION', ''], ...rows])) this.#console.say(line);
  }

  #showHelp(): void {
    const rows = this.#server.commands.all().map(({ name, bundle, description }) => [name, bundle ?? '', description]);
    for (const line of aligned(rows)) this.#console.say(line);
  }
}

/** Columns as wide as their widest cell. */
function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_cell, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
