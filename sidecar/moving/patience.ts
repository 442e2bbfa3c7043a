import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '#protocol/errors.ts';
import { DiskFullError } from '../engine/disk-full.ts';
import type { CallBounds } from '../engine/rows.ts';

/** A page of a large table may have to come from a cold disk. */
const STATEMENT_MS = 60_000;
const CHANGE_MS = 3_600_000;
/** Between attempts: a server that restarts is back within their sum. */
const PAUSES_MS = [250, 1000, 4000, 10_000];
const PASSING: readonly string[] = ['database_error', 'database_timeout', 'conflict_retry'];

export function statementBounds(): CallBounds {
  return { deadline: performance.now() + STATEMENT_MS };
}

/** For changes of a schema, which may visit all rows. */
export function changeBounds(): CallBounds {
  return { deadline: performance.now() + CHANGE_MS };
}

/** Runs `work` again after failures that may pass. It must do no harm when what it did before took effect unnoticed. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ApiError) || error instanceof DiskFullError || !PASSING.includes(error.code)) throw error;
      await sleep(pauseMs);
    }
  }
  return work();
}
