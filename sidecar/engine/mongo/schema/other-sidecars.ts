import type { SchemaWork } from './collections.ts';

/** Other sidecars of this database. */
export interface Others {
  /** Resolves when no operation on rows of the namespace runs that began before the change `token` was announced. */
  wait(work: SchemaWork, namespace: string, token: string): Promise<void>;
}
