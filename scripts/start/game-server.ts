import { type ChildProgram, startChild, stopChild } from './child-program.ts';

/** Where the server's own limit for a clean stop is 15 s (contract section 9). */
const STOP_MS = 20_000;
/** The start-up is over when the console has been quiet for this long, or at the latest after the longer time. */
const QUIET_MS = 2500;
const LONGEST_START_MS = 20_000;

export interface GameServerSettings {
  readonly program: string;
  readonly root: string;
  readonly vfs: string;
  readonly say: (line: string) => void;
}

/** The standalone server as a child: its console is this terminal. */
export class GameServer {
  /** Resolves when the lines of the start-up are through. */
  readonly settled: Promise<void>;
  readonly #settings: GameServerSettings;
  #onSettled: () => void;
  #quiet: NodeJS.Timeout | undefined;
  #child: ChildProgram | null = null;

  constructor(settings: GameServerSettings) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.settled = promise;
    this.#onSettled = resolve;
    this.#settings = settings;
  }

  /** Resolves with its exit code. */
  async run(): Promise<number> {
    const { program, root, vfs, say } = this.#settings;
    const child = startChild({
      args: [program, '--root', root, '--vfs', vfs],
      hasInput: true,
      onLine: (line) => {
        say(line);
        this.#quiet?.refresh();
      },
    });
    this.#child = child;
    this.#quiet = setTimeout(this.#onSettled, QUIET_MS);
    const latest = setTimeout(this.#onSettled, LONGEST_START_MS);
    this.#connectConsole(child);
    const code = await child.ended;
    clearTimeout(this.#quiet);
    clearTimeout(latest);
    this.#child = null;
    return code;
  }

  async stop(): Promise<void> {
    if (this.#child !== null) await stopChild(this.#child, STOP_MS);
  }

  /** The end of our input is not passed on as a command to stop: without a terminal the server goes on serving. */
  #connectConsole(child: ChildProgram): void {
    const input = child.process.stdin;
    if (input === null) return;
    input.on('error', () => process.stdin.unpipe(input));
    process.stdin.pipe(input, { end: false });
    void child.ended.then(() => process.stdin.unref?.());
  }
}
