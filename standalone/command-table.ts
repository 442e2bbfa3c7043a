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

  /** Throws if the name is taken, or is none that could be typed. */
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

/** A console line that cannot be split. */
export class CommandLineError extends Error {
  override readonly name = 'CommandLineError';
}

const SPACE = /\s/;
/** Behind a backslash between double quotes these stand for themselves; any other backslash is one. */
const ESCAPABLE = '"\\';

/**
 * Splits as a shell does: words end at white space, `'…'` is taken as it is, `"…"` keeps spaces, and a backslash keeps
 * the next character. Throws `CommandLineError` if a quote is not closed.
 */
export function splitCommandLine(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at);
    if (SPACE.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character === "'" || character === '"') {
      const { text, end } = readQuoted(line, at);
      word = (word ?? '') + text;
      at = end;
    } else {
      if (character === '\\' && at + 1 < line.length) at++;
      word = (word ?? '') + line.charAt(at);
    }
  }
  return word === undefined ? words : [...words, word];
}

/** @param start where the opening quote stands; `end` is where the closing one does */
function readQuoted(line: string, start: number): { text: string; end: number } {
  const quote = line.charAt(start);
  let text = '';
  for (let at = start + 1; at < line.length; at++) {
    const character = line.charAt(at);
    if (character === quote) return { text, end: at };
    const next = line.charAt(at + 1);
    if (quote === '"' && character === '\\' && next !== '' && ESCAPABLE.includes(next)) {
      text += next;
      at++;
    } else {
      text += character;
    }
  }
  throw new CommandLineError(`the quote ${quote} is not closed`);
}
