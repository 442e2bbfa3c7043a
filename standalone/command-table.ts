import type { RunCommand } from './host.ts';

export interface Command {
  readonly name: string;
  readonly description: string;
  /** undefined: the server's own. */
  readonly bundle: string | undefined;
  readonly run: RunCommand;
}

/** The console's commands, one a name. */
export class CommandTable {
  readonly #commands = new Map<string, Command>();

  /** Throws where the name is taken, or is none that could be typed. */
  register(command: Command): void {
    const { name, run } = command;
    if (typeof name !== 'string' || !/^[^\s'"\\]+$/.test(name)) {
      throw new TypeError(`a command needs a name without spaces and quotes, got ${JSON.stringify(name)}`);
    }
    if (typeof run !== 'function') throw new TypeError(`command ${name}: expected a function, got ${typeof run}`);
    const owner = this.#commands.get(name);
    if (owner !== undefined) {
      const who = owner.bundle === undefined ? 'the server' : `bundle ${owner.bundle}`;
      throw new Error(`The command ${name} belongs to ${who} already`);
    }
    this.#commands.set(name, command);
  }

  find(name: string): Command | undefined {
    return this.#commands.get(name);
  }

  /** By name. */
  all(): Command[] {
    return [...this.#commands.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  withdraw(bundle: string): void {
    for (const command of this.#commands.values()) {
      if (command.bundle === bundle) this.#commands.delete(command.name);
    }
  }
}
