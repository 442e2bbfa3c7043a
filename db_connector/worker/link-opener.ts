import type { ApiLink, WorkerState } from '../client/api-link.ts';
import { SignedLink } from '../client/signed-link.ts';
import { openTransport } from '../client/stream-transport.ts';
import type { Timers } from '../client/timers.ts';
import type { Configuration } from '../config/configuration.ts';
import type { Say } from '../config/say.ts';
import { WorkerLink } from './worker-link.ts';
import type { WorkerPlace } from './worker-place.ts';

/** Opens links to the API: in a worker if configuration and host allow that, in this thread otherwise. */
export class LinkOpener {
  readonly #place: WorkerPlace;
  readonly #timers: Timers;
  readonly #log: Say;
  #hasTold = false;

  constructor(place: WorkerPlace, timers: Timers, log: Say) {
    this.#place = place;
    this.#timers = timers;
    this.#log = log;
  }

  open(configuration: Configuration): ApiLink {
    const code = configuration.config.worker === 'off' ? null : this.#place.code;
    if (code === null) return this.#inThread(configuration, 'off');
    try {
      return new WorkerLink({ configuration, code, timers: this.#timers, log: this.#log });
    } catch (error) {
      this.#tell(error);
      return this.#inThread(configuration, 'denied');
    }
  }

  #inThread(configuration: Configuration, worker: WorkerState): SignedLink {
    return new SignedLink(configuration, this.#timers, openTransport(configuration, this.#timers), worker);
  }

  /** Once: a reload changes nothing of it. */
  #tell(error: unknown): void {
    if (this.#hasTold) return;
    this.#hasTold = true;
    // The error comes from another realm than this script's, so it is no `Error` here.
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
    const { permissionHint } = this.#place;
    if (code === 'ERR_ACCESS_DENIED' && permissionHint !== null) this.#log(permissionHint);
    else this.#log(`no worker can be started, so calls go out from the game's thread: ${String(error)}`, 'warning');
  }
}
