import type { PanelSettings } from '../settings/panel-settings.ts';
import type { GaveUp, Plan } from '../shapes/server.ts';
import { seconds } from './describe-run.ts';
import { CrashGuard } from './restart-rule.ts';

export interface SelfStartOptions {
  readonly settings: PanelSettings;
  readonly start: (why: string) => void;
  readonly say: (text: string) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Starts that nobody clicks: after a crash, and after a hang; within the bounds of the guard. */
export class SelfStart {
  gaveUp: GaveUp | null = null;
  readonly #options: SelfStartOptions;
  readonly #guard = new CrashGuard();
  #pending: { readonly at: string; readonly timer: NodeJS.Timeout } | null = null;

  constructor(options: SelfStartOptions) {
    this.#options = options;
    options.settings.onChange(({ autoStartServer }) => {
      // An owner who turns autostart off while a server crashes again and again means this start.
      if (!autoStartServer && this.isPending) this.cancel();
    });
  }

  get isPending(): boolean {
    return this.#pending !== null;
  }

  /** Shows the start that is to come. */
  get plan(): Plan | null {
    return this.#pending === null ? null : { steps: [{ action: 'start', at: this.#pending.at }], next: 0 };
  }

  /**
   * Only where the owner has turned autostart on.
   *
   * @param ranMs how long the server had run
   */
  afterCrash(ranMs: number): void {
    const { start, say, settings, now } = this.#options;
    if (!settings.values.autoStartServer) return;
    const waitMs = this.#guard.afterCrash(performance.now(), ranMs);
    if (waitMs === null) {
      this.gaveUp = 'crashes';
      say('The server crashed too often: 5 starts in 10 minutes. It stays down until you start it');
      return;
    }
    const timer = setTimeout(() => {
      this.#pending = null;
      this.#guard.noteStart(performance.now());
      start('The server starts again after a crash');
    }, waitMs);
    this.#pending = { timer, at: new Date(now() + waitMs).toISOString() };
    say(`The server starts again in ${seconds(waitMs)}`);
  }

  /** Whether a server that hangs may be restarted now: that counts as a start after a crash. */
  mayRestartHung(): boolean {
    if (this.#guard.afterCrash(performance.now(), 0) === null) {
      this.#options.say('The server was started too often in 10 minutes, so it is not restarted');
      return false;
    }
    this.#guard.noteStart(performance.now());
    return true;
  }

  /** Nothing starts by itself any more, until the next crash. */
  cancel(): void {
    clearTimeout(this.#pending?.timer);
    this.#pending = null;
    this.gaveUp = null;
  }

  /** Somebody starts it by hand. */
  clear(): void {
    this.cancel();
    this.#guard.clear();
  }
}
