const MAX_COMMANDS = 100;

/** Where the history outlives a reload; `sessionStorage` in a browser. */
export interface HistoryStore {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

/** Commands that the account has sent, for the keys up and down. The unsent text of the field is kept at the end. */
export class CommandHistory {
  readonly #store: HistoryStore;
  readonly #key: string;
  #commands: string[];
  #position: number;
  #draft = '';

  constructor(store: HistoryStore, username: string) {
    this.#store = store;
    this.#key = `panel-commands:${username}`;
    this.#commands = readCommands(store.getItem(this.#key));
    this.#position = this.#commands.length;
  }

  add(command: string): void {
    if (this.#commands.at(-1) !== command) this.#commands = [...this.#commands, command].slice(-MAX_COMMANDS);
    this.#position = this.#commands.length;
    this.#draft = '';
    try {
      this.#store.setItem(this.#key, JSON.stringify(this.#commands));
    } catch {
      // A full or forbidden store costs the history after a reload, nothing else.
    }
  }

  /** Text after the key up, if `shown` is in the field now. */
  older(shown: string): string {
    if (this.#position === this.#commands.length) this.#draft = shown;
    this.#position = Math.max(0, this.#position - 1);
    return this.#commands[this.#position] ?? shown;
  }

  newer(shown: string): string {
    if (this.#position === this.#commands.length) return shown;
    this.#position++;
    return this.#commands[this.#position] ?? this.#draft;
  }
}

/** Anything may stand in a browser's store. */
function readCommands(stored: string | null): string[] {
  try {
    const value: unknown = JSON.parse(stored ?? '[]');
    return Array.isArray(value) ? value.filter((item) => typeof item === 'string').slice(-MAX_COMMANDS) : [];
  } catch {
    return [];
  }
}
