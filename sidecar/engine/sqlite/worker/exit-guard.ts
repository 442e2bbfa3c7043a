/**
 * Node.js waits for all its threads when it exits, also for one that never comes back from SQLite. While there is such a
 * thread the exit of the process becomes a kill: whatever it had to save is saved by then, or never would be.
 */
export class ExitGuard {
  readonly #onExit: () => void;

  constructor(hasStuckThread: () => boolean) {
    this.#onExit = () => {
      if (hasStuckThread()) process.kill(process.pid, 'SIGKILL');
    };
    process.on('exit', this.#onExit);
  }

  release(): void {
    process.off('exit', this.#onExit);
  }
}
