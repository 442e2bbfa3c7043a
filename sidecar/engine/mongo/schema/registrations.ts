import { type SchemaWork, type SidecarDocument, sidecarsOf } from './collections.ts';

/** Registrations of other sidecars that may run operations on rows, as this one has seen them. */
export class Registrations {
  readonly #own: string;
  readonly #goneMs: number;
  /** By id: the registration, and when it was seen first as it is; `performance.now()` milliseconds. */
  readonly #seen = new Map<string, { readonly until: number; readonly since: number }>();

  /** @param goneMs after this, and the longest time of its operations, a sidecar that did not renew runs none */
  constructor(own: string, goneMs: number) {
    this.#own = own;
    this.#goneMs = goneMs;
  }

  /** Others that may live. Registrations of those that are gone are deleted. */
  async others(work: SchemaWork): Promise<SidecarDocument[]> {
    const found = await sidecarsOf(work.db)
      .find({ _id: { $ne: this.#own }, callMs: { $exists: true } }, work.time())
      .toArray();
    const living: SidecarDocument[] = [];
    for (const other of found) {
      if (this.#isGone(other)) await sidecarsOf(work.db).deleteOne({ _id: other._id, until: other.until }, work.time());
      else living.push(other);
    }
    return living;
  }

  #isGone({ _id, until, callMs }: SidecarDocument): boolean {
    const now = performance.now();
    const seen = this.#seen.get(_id);
    if (seen?.until !== until.getTime()) this.#seen.set(_id, { until: until.getTime(), since: now });
    else if (now - seen.since > this.#goneMs + callMs) return this.#seen.delete(_id);
    return false;
  }
}
