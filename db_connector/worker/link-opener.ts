import type { ApiLink } from '../client/api-link.ts';
import { openLinks } from '../client/open-links.ts';
import type { Timers } from '../client/timers.ts';
import type { Configuration } from '../config/configuration.ts';
import type { Say } from '../config/say.ts';
import { LinkThread } from './link-thread.ts';
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

  /** In the order of the addresses. */
  open(configuration: Configuration): readonly ApiLink[] {
    const code = configuration.config.worker === 'off' ? null : this.#place.code;
    if (code === null) return openLinks(configuration, this.#timers, 'off');
    try {
      const thread = new LinkThread({ configuration, code, timers: this.#timers, log: this.#log });
      return configuration.config.targets.map((_, address) => new WorkerLink(thread, address));
    } catch (error) {
      this.#tell(error);
      return openLinks(configuration, this.#timers, 'denied');
    }
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
