import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { namingFullDisk } from './free-space.ts';

/** Room of any work, and of each lease: a release writes a few pages. */
const BASE_BYTES = 2 ** 18;
const LEASE_BYTES = 2 ** 15;

/**
 * Room on the disk of an SQLite file, held while work may fill that disk. Released before the leases of the work: a release of a lease is a
 * write, and finds room then. A server's disk is not ours to hold.
 */
export class HeldRoom {
  readonly #database: string | null;
  readonly #file: string;

  constructor(database: { readonly provider: string; readonly file?: string }) {
    this.#database = database.provider === 'sqlite' ? (database.file ?? null) : null;
    this.#file = `${this.#database}.held-room`;
  }

  /** Replaces the room that a killed run has left. @throws MoveRefused if the disk is full already */
  async take(leases: number): Promise<void> {
    const database = this.#database;
    if (database === null) return;
    await namingFullDisk({ folder: dirname(database) }, async () => {
      try {
        // Random: a disk that compresses must not store it in less.
        writeFileSync(this.#file, randomBytes(BASE_BYTES + leases * LEASE_BYTES), { mode: 0o600 });
      } catch (error) {
        this.release();
        throw error;
      }
    });
  }

  release(): void {
    if (this.#database !== null) rmSync(this.#file, { force: true });
  }
}
