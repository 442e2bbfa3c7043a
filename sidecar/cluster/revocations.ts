import type { Engine } from '../engine/engine.ts';
import type { EngineLog } from '../engine/log.ts';
import type { CallBounds } from '../engine/rows.ts';
import { Looks } from './looks.ts';

export interface RevocationsOptions {
  readonly engine: Pick<Engine, 'cluster'>;
  /** Keys of this sidecar. */
  readonly kids: readonly string[];
  readonly log: EngineLog;
}

/**
 * Revoked keys of the database (`_revoked`), read every 2 s. The last reading holds while the database is away; a revoked key
 * stays revoked until the process ends.
 */
export class Revocations {
  readonly #options: RevocationsOptions;
  readonly #revoked = new Set<string>();
  readonly #looks = new Looks((bounds) => this.#look(bounds));

  constructor(options: RevocationsOptions) {
    this.#options = options;
  }

  has(kid: string): boolean {
    return this.#revoked.has(kid);
  }

  /** Resolves after the first look, also if it failed. */
  begin(): Promise<void> {
    this.#looks.begin();
    return this.#looks.first();
  }

  stop(): Promise<void> {
    return this.#looks.end();
  }

  async #look(bounds: CallBounds): Promise<void> {
    for (const { kid, revokedAt } of await this.#options.engine.cluster.listRevoked(bounds)) {
      if (this.#revoked.has(kid)) continue;
      this.#revoked.add(kid);
      if (this.#options.kids.includes(kid)) this.#tell(kid, revokedAt);
    }
  }

  #tell(kid: string, revokedAt: number): void {
    this.#options.log(
      'warn',
      'this key was revoked and is refused: remove it with keys revoke; a new key needs another name',
      {
        kid,
        revokedAt: new Date(revokedAt).toISOString(),
      },
    );
  }
}
