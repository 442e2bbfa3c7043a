import { randomUUID } from 'node:crypto';
import type { Database } from 'better-sqlite3';

/** In SQL, once defined: another random value in each row. */
export const RANDOM = '_random()';

export function defineRandom(db: Database): void {
  db.function('_random', { deterministic: false, directOnly: true }, () => randomUUID());
}
