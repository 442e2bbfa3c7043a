import { randomFillSync } from 'node:crypto';

const ID_BYTES = 16;
/** A single request for random bytes serves this many ids: asking for 16 at a time costs ten times as much. */
const POOLED_IDS = 256;
const pool = Buffer.alloc(ID_BYTES * POOLED_IDS);
let used = pool.length;

/** 128 random bits as 22 characters of base64url: nonces, and the ids of tickets. */
export function randomId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += ID_BYTES;
  return pool.toString('base64url', used - ID_BYTES, used);
}
