import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PanelSettings } from '../settings/panel-settings.ts';
import type { ServerStatus } from '../shapes/server.ts';
import type { ServerChange } from '../shapes/server-updates.ts';

/** A version runs so long without a crash or a hang before it is kept. */
const PROVEN_MS = 120_000;
const TARGET = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Choice of the version, a setting of the panel. */
export interface VersionChoice {
  readonly current: string | null;
  readonly pending: string | null;
  readonly previous: string | null;
  readonly isOnTrial: boolean;
  readonly last: ServerChange | null;
}

export interface VersionedServer {
  status(): ServerStatus;
  start(actor: string): unknown;
  restart(actor: string): unknown;
}

export interface ServerVersionsOptions {
  readonly settings: PanelSettings;
  readonly server: VersionedServer;
  readonly now: () => number;
  /** Default: two minutes. */
  readonly provenMs?: number;
}

/** Versions of the game server below `server-updates/versions`, and the gate of a new one. */
export class ServerVersions {
  readonly #options: ServerVersionsOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ServerVersionsOptions) {
    this.#options = options;
  }

  get choice(): VersionChoice {
    return this.#options.settings.values.serverVersion;
  }

  /** Folder of all versions; null without a server folder. */
  get folder(): string | null {
    const { serverRoot } = this.#options.settings.values;
    return serverRoot === '' ? null : join(serverRoot, 'server-updates/versions');
  }

  staged(): string[] {
    return this.folder === null ? [] : namesIn(this.folder).filter((name) => TARGET.test(name));
  }

  choose(pending: string | null): void {
    this.#change({ pending });
  }

  /** Right before a start: what waits becomes the version that starts. */
  beforeStart(): void {
    const { pending, current, previous } = this.choice;
    if (pending === null) return;
    const before = pending === current ? previous : current;
    this.#change({ current: pending, previous: before, pending: null, isOnTrial: true });
  }

  /** Takes each status of the server. */
  follow({ state, hungSince, exit, failure }: ServerStatus): void {
    if (!this.choice.isOnTrial) return;
    if (state === 'crashed') {
      this.#takeBack(failure ?? `it crashed (${exit?.signal ?? `exit code ${exit?.code}`})`, 'start');
    } else if (hungSince !== null) this.#takeBack('it did not answer', 'restart');
    else if (state === 'running') this.#timer ??= setTimeout(() => this.#keep(), this.#options.provenMs ?? PROVEN_MS);
    else this.#stopWaiting();
  }

  close(): void {
    this.#stopWaiting();
  }

  #keep(): void {
    this.#stopWaiting();
    this.#change({ isOnTrial: false, last: this.#end('kept', '') });
  }

  /** Once: the version before it is not on trial. */
  #takeBack(reason: string, how: 'start' | 'restart'): void {
    this.#stopWaiting();
    const { previous, current } = this.choice;
    const last = this.#end('takenBack', reason);
    if (previous === null) {
      this.#change({ isOnTrial: false, last });
      return;
    }
    this.#change({ isOnTrial: false, current: previous, previous: current, last });
    // After the event that brought the status here. A start that is planned already takes the version too.
    setImmediate(() => {
      try {
        this.#options.server[how]('The panel');
      } catch {
        // An account has started or stopped it meanwhile.
      }
    });
  }

  #end(outcome: ServerChange['outcome'], reason: string): ServerChange {
    return { target: this.choice.current ?? '', outcome, reason, at: new Date(this.#options.now()).toISOString() };
  }

  #change(changes: Partial<VersionChoice>): void {
    this.#options.settings.update({ serverVersion: { ...this.choice, ...changes } });
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

export function isTarget(name: string): boolean {
  return TARGET.test(name);
}

/** Folders; links do not count. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => lstatSync(join(folder, name)).isDirectory());
  } catch {
    return [];
  }
}
