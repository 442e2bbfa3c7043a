import type { MongoClient } from 'mongodb';
import type { HostInUse } from '../engine.ts';

/** Host that the driver has chosen for the last call: the primary, or one of several routers. */
export class UsedHost {
  #host: string | null = null;
  #hasOthers = false;

  follow(client: Pick<MongoClient, 'on'>): void {
    client.on('topologyDescriptionChanged', ({ newDescription }) => {
      this.#hasOthers = newDescription.servers.size > 1;
    });
    client.on('connectionCheckedOut', ({ address }) => {
      this.#host = address;
    });
  }

  /** Null before the first call. */
  get inUse(): HostInUse | null {
    return this.#host === null ? null : { host: this.#host, insteadOf: null, hasOthers: this.#hasOthers };
  }
}
