/** All but the tab: a line of a bundle can neither pass for another line nor move the cursor of a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** The console's output, a line at a time. */
export class ConsoleLines {
  readonly #write: (text: string) => void;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** A line of the server itself, or of a command that was typed. */
  say(text: string): void {
    this.#write(
      lines(text)
        .map((line) => `${line}\n`)
        .join(''),
    );
  }

  /** Lines of a bundle, each with its name in front. */
  ofBundle(name: string, text: string): void {
    this.#write(
      lines(text)
        .map((line) => `[${name}] ${line}\n`)
        .join(''),
    );
  }
}

function lines(text: string): string[] {
  return String(text)
    .split(/\r?\n/)
    .map((line) => line.replace(CONTROL, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`));
}
