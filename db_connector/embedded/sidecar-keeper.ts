import { randomBytes } from 'node:crypto';
import { resolve, sep } from 'node:path';
import type { Cancel, Timers } from '../client/timers.ts';
import { ConfigError } from '../config/config-error.ts';
import type { EmbeddedConfig } from '../config/database-config.ts';
import type { Say } from '../config/say.ts';
import type { EmbeddedPlace } from './embedded-place.ts';
import { CannotStartError, checkNode } from './node-version.ts';
import { RestartRule } from './restart-rule.ts';
import { type ChildOrders, SidecarChild } from './sidecar-child.ts';

const SECRET_BYTES = 32;

export interface KeeperOptions {
  readonly place: EmbeddedPlace;
  readonly timers: Timers;
  readonly log: Say;
}

export interface KeeperEvents {
  /** The sidecar serves, with a secret that is good until it ends. */
  onUp(address: string, secret: string): void;
  onDown(): void;
  /** It is down, and is not started again. */
  onGivenUp(reason: string): void;
}

/** Keeps a sidecar running: starts it, and starts it again when it ends. Each configuration gets a new keeper. */
export class SidecarKeeper {
  readonly #options: KeeperOptions;
  readonly #config: EmbeddedConfig;
  readonly #events: KeeperEvents;
  readonly #rule = new RestartRule();
  readonly folder: string;
  #child: SidecarChild | null = null;
  #cancelPause: Cancel | null = null;
  #isStopped = false;
  #lastLine = '';

  /** @throws ConfigError where data would lie in the bundle's folder */
  constructor(options: KeeperOptions, config: EmbeddedConfig, events: KeeperEvents) {
    this.#options = options;
    this.#config = config;
    this.#events = events;
    const { place } = options;
    this.folder = config.folder === null ? place.folder : resolve(place.base, config.folder);
    if (isWithin(this.folder, place.bundleFolder)) {
      throw new ConfigError(
        `sidecar.folder: expected a folder outside of ${place.bundleFolder}, which the next version replaces, got one inside`,
      );
    }
  }

  /**
   * Whether a start would find a good configuration; a sidecar that runs is not touched.
   *
   * @throws CannotStartError that says what to do
   */
  async check(): Promise<void> {
    await checkNode(this.#config.node, this.#options.place);
    const lines: string[] = [];
    const child = new SidecarChild(this.#orders(true, newSecret()), {
      onListening: () => {},
      onLine: (line) => lines.push(line),
    });
    const how = await child.ended;
    if (how !== 'code 0') {
      throw new CannotStartError(lines.join('; ') || `the sidecar's check ended with ${how}`);
    }
  }

  /** Resolves once the child runs, which is before it serves. Never rejects. */
  async start(): Promise<void> {
    try {
      await checkNode(this.#config.node, this.#options.place);
      if (!this.#isStopped) {
        this.#spawn();
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#options.log(reason, 'bad');
      this.#events.onGivenUp(reason);
    }
  }

  /** Resolves when the child has ended, which writes out what is queued first. A child that hangs is killed. */
  async stop(): Promise<void> {
    const { timers, log } = this.#options;
    this.#isStopped = true;
    this.#cancelPause?.();
    await this.#child?.stop(timers, (reason) => log(`the sidecar ${reason}: killed`, 'warning'));
  }

  #orders(isCheck: boolean, secret: string): ChildOrders {
    const { keyId: kid, node } = this.#config;
    return { node, program: this.#options.place.program, isCheck, folder: this.folder, kid, secret };
  }

  #spawn(): void {
    const secret = newSecret();
    const child = new SidecarChild(this.#orders(false, secret), {
      onListening: (address) => {
        if (!this.#isStopped) {
          this.#events.onUp(address, secret);
        }
      },
      onLine: (line) => this.#say(line),
    });
    this.#child = child;
    void child.ended.then((how) => this.#onEnded(how));
  }

  #onEnded(how: string): void {
    this.#child = null;
    if (this.#isStopped) {
      return;
    }
    this.#events.onDown();
    const { timers, log } = this.#options;
    const pauseMs = this.#rule.next(timers.elapsed());
    if (pauseMs === null) {
      const reason = `the sidecar ended with ${how}, for the sixth time within 10 minutes, and is not started again: look into ${this.folder}/logs/sidecar.log, fix what it says, then type db-reload`;
      log(reason, 'bad');
      this.#events.onGivenUp(reason);
      return;
    }
    log(`the sidecar ended with ${how}; it is started again in ${pauseMs / 1000} s`, 'bad');
    this.#lastLine = '';
    this.#cancelPause = timers.after(pauseMs, () => void this.start());
  }

  /** A sidecar that cannot start says why, once a start; repeating the same line would not help. */
  #say(line: string): void {
    if (line !== this.#lastLine) {
      this.#options.log(line, 'warning');
    }
    this.#lastLine = line;
  }
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}
