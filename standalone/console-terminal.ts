import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from 'node:readline';

const HISTORY_LINES = 500;

interface TerminalStreams {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
}

export interface TerminalEvents {
  onLine(line: string): void;
  /** Ctrl+C, which reaches no process as a signal while a line is edited. */
  onInterrupt(): void;
  /** Words that can stand in place of the last one typed, by the words before it. */
  complete(before: readonly string[]): readonly string[];
}

/**
 * Console input and output. On a terminal the typed line can be edited, with history and completion, and stays below what is
 * printed meanwhile. The end of the input stops nothing.
 */
export class ConsoleTerminal {
  readonly #output: NodeJS.WriteStream;
  readonly #input: NodeJS.ReadStream;
  #editor: Interface | null = null;

  constructor({ stdin, stdout }: TerminalStreams = process) {
    this.#input = stdin;
    this.#output = stdout;
  }

  /** A person types here. */
  get isInteractive(): boolean {
    return this.#input.isTTY === true && this.#output.isTTY === true;
  }

  /** @param text whole lines */
  write(text: string): void {
    const editor = this.#editor;
    if (editor === null) {
      this.#output.write(text);
      return;
    }
    moveCursor(this.#output, 0, -editor.getCursorPos().rows);
    cursorTo(this.#output, 0);
    clearScreenDown(this.#output);
    this.#output.write(text);
    editor.prompt(true);
  }

  read({ onLine, onInterrupt, complete }: TerminalEvents): void {
    this.#input.on('error', () => {});
    if (!this.isInteractive) {
      createInterface({ input: this.#input, terminal: false }).on('line', onLine);
      return;
    }
    const editor = createInterface({
      input: this.#input,
      output: this.#output,
      historySize: HISTORY_LINES,
      removeHistoryDuplicates: true,
      prompt: '> ',
      completer: (line: string) => completionOf(line, complete),
    });
    this.#editor = editor;
    editor.on('line', (line) => {
      onLine(line);
      editor.prompt();
    });
    editor.on('SIGINT', onInterrupt);
    editor.on('close', () => {
      this.#editor = null;
    });
    editor.prompt();
  }
}

/** Matching words and the text that they replace, as readline takes them. */
export function completionOf(line: string, complete: TerminalEvents['complete']): [string[], string] {
  const words = line.trimStart().split(/\s+/);
  const last = words.pop() ?? '';
  const matching = complete(words).filter((word) => word.startsWith(last));
  return [matching.map((word) => `${word} `), last];
}
