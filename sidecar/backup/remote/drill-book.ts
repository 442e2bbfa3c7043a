import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { replaceFile } from '../../config/new-file.ts';

const FILE = 'backup-drill.json';
const DAY_MS = 86_400_000;
/** After a failure, whatever the interval: each try reads the whole backup. */
const RETRY_MS = 6 * 3_600_000;

const result = z.object({
  at: z.iso.datetime(),
  ok: z.boolean(),
  /** `opened`: every row was restored and compared. `bytes`: only the bytes are those that were sent. */
  kind: z.enum(['opened', 'bytes']),
  /** Object; null if none was there. */
  backup: z.string().nullable(),
  seconds: z.number(),
  rows: z.int().nullable(),
  error: z.string().nullable(),
});
const book = z.object({ last: result, lastSuccessAt: z.iso.datetime().nullable(), since: z.iso.datetime() });

/** Result of a drill: whether the newest backup off the machine can be restored. */
export type DrillResult = z.output<typeof result>;
export type DrillRecord = z.output<typeof book>;

/** The last drill, kept beside the data. */
export class DrillBook {
  readonly #file: string;

  constructor(dataFolder: string) {
    this.#file = join(dataFolder, FILE);
  }

  /** Null before the first drill. */
  read(): DrillRecord | null {
    try {
      return book.parse(JSON.parse(readFileSync(this.#file, 'utf8')));
    } catch {
      return null;
    }
  }

  /** Takes over the result of another sidecar of the database, if it is newer. */
  adopt(note: unknown): void {
    const { success, data } = result.safeParse(note);
    const own = this.read()?.last.at ?? '';
    if (success && data.at > own) this.write(data);
  }

  write(last: DrillResult): void {
    const before = this.read();
    const lastSuccessAt = last.ok ? last.at : (before?.lastSuccessAt ?? null);
    const record: DrillRecord = { last, lastSuccessAt, since: before?.since ?? last.at };
    replaceFile(this.#file, `${JSON.stringify(record, null, 2)}\n`, 0o600);
  }
}

/** When the next drill is to run, epoch milliseconds; `now` or earlier means at once, as for one that was missed. */
export function nextDrill(record: DrillRecord | null, everyDays: number, now: number): number {
  if (record === null) return now;
  const last = Date.parse(record.last.at);
  // A clock that was ahead must not put drills off for years.
  if (last > now) return now;
  return last + (record.last.ok ? everyDays * DAY_MS : Math.min(RETRY_MS, everyDays * DAY_MS));
}

/** Whether no drill has succeeded for twice the interval. */
export function isDrillOverdue(record: DrillRecord | null, everyDays: number, now: number): boolean {
  if (record === null) return false;
  return now - Date.parse(record.lastSuccessAt ?? record.since) > 2 * everyDays * DAY_MS;
}
