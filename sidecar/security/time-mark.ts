import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { giveToOwner } from '../file-owner.ts';
import { makeFolder } from '../make-folder.ts';

/** The mark runs this far ahead of the clock, so that it is rarely written while a request waits. */
export const MARK_AHEAD_SECONDS = 30;
const RENEW_AT_SECONDS = 20;
const FILE = 'time-mark.json';

interface MarkState {
  readonly bootId: string;
  /** Nothing was accepted later than this, in epoch seconds. */
  readonly mark: number;
  /** The newest time stamp among nonces that were dropped; nothing up to it is accepted again. */
  readonly forgotten: number;
  /** Stopped in order, every nonce flushed. */
  readonly isClean: boolean;
}

/** How the sidecar before this one ended. */
export type LastEnd = 'none' | 'trusted' | 'lost' | 'unreadable';

/**
 * A time written to the disk ahead of the clock. After a power failure, when appended nonces may be lost, nothing
 * signed before it (plus the skew) is accepted (contract section 3.5).
 */
export class TimeMark {
  readonly lastEnd: LastEnd;
  readonly #folder: string;
  readonly #file: string;
  readonly #bootId: string;
  #mark: number;
  #forgotten: number;
  #renewal: Promise<boolean> | null = null;

  /** Makes the folder if it is missing. */
  constructor(folder: string, bootId: string) {
    const isNew = !existsSync(folder);
    makeFolder(folder);
    this.#folder = folder;
    this.#file = join(folder, FILE);
    this.#bootId = bootId;
    const last = isNew ? null : readState(this.#file);
    this.lastEnd = isNew ? 'none' : last === null ? 'unreadable' : endOf(last, bootId);
    this.#mark = last?.mark ?? 0;
    this.#forgotten = last?.forgotten ?? 0;
  }

  get seconds(): number {
    return this.#mark;
  }

  get forgotten(): number {
    return this.#forgotten;
  }

  /** The first word of a start, on the disk when this returns. Nothing signed up to `refusedUntil` is ever accepted. */
  begin(nowSeconds: number, refusedUntil: number): void {
    this.#forgotten = Math.max(this.#forgotten, refusedUntil);
    this.#writeNow(Math.max(this.#mark, nowSeconds + MARK_AHEAD_SECONDS), false);
  }

  /** The clock was far ahead and is right again: the mark follows it, and nothing signed up to `refusedUntil` is accepted. */
  rewind(nowSeconds: number, refusedUntil: number): void {
    this.#mark = Math.min(this.#mark, nowSeconds - 1);
    this.#forgotten = Math.min(this.#forgotten, refusedUntil);
  }

  /** Returns once a mark at or after `nowSeconds` is on the disk; throws if the disk refuses it. */
  reach(nowSeconds: number): void {
    if (nowSeconds > this.#mark) this.#writeNow(nowSeconds + MARK_AHEAD_SECONDS, false);
    else if (nowSeconds > this.#mark - RENEW_AT_SECONDS) this.#renewal ??= this.#renew(nowSeconds + MARK_AHEAD_SECONDS);
  }

  /** Nonces up to `ts` are dropped. True once that is on the disk. */
  async forget(ts: number): Promise<boolean> {
    this.#forgotten = Math.max(this.#forgotten, ts);
    while (this.#renewal !== null) await this.#renewal;
    this.#renewal = this.#renew(this.#mark);
    return this.#renewal;
  }

  /** The last word of a clean stop: every nonce file is flushed. */
  async close(): Promise<void> {
    while (this.#renewal !== null) await this.#renewal;
    this.#writeNow(this.#mark, true);
  }

  /** False if the disk refuses it: the clock then runs into the old mark, and `reach` throws. */
  async #renew(mark: number): Promise<boolean> {
    try {
      const temporary = `${this.#file}.next`;
      const handle = await open(temporary, 'w', 0o600);
      try {
        await handle.writeFile(this.#text(mark, false));
        await handle.sync();
      } finally {
        await handle.close();
      }
      // A later mark may have been written while this one was under way.
      if (this.#mark > mark) return true;
      renameSync(temporary, this.#file);
      await this.#flushFolderSoon();
      this.#mark = Math.max(this.#mark, mark);
      return true;
    } catch {
      return false;
    } finally {
      this.#renewal = null;
    }
  }

  #writeNow(mark: number, isClean: boolean): void {
    const temporary = `${this.#file}.now`;
    const descriptor = openSync(temporary, 'w', 0o600);
    try {
      writeSync(descriptor, this.#text(mark, isClean));
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    giveToOwner(temporary);
    this.#publish(temporary, mark);
  }

  #publish(temporary: string, mark: number): void {
    renameSync(temporary, this.#file);
    this.#flushFolder();
    this.#mark = mark;
  }

  #text(mark: number, isClean: boolean): string {
    const state: MarkState = { bootId: this.#bootId, mark, forgotten: this.#forgotten, isClean };
    return JSON.stringify(state);
  }

  /** The same off this thread, which serves requests. */
  async #flushFolderSoon(): Promise<void> {
    if (process.platform === 'win32') return;
    const handle = await open(this.#folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  /** Without it the new name may be lost with the power. Windows has no such call. */
  #flushFolder(): void {
    if (process.platform === 'win32') return;
    const descriptor = openSync(this.#folder, 'r');
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }
}

/** Whether a sidecar has kept its mark in the folder since this start of the machine. */
function markedBoot(folder: string, bootId: string): boolean {
  const last = readState(join(folder, FILE));
  return last !== null && isSameBoot(last.bootId, bootId);
}

function endOf(last: MarkState, bootId: string): LastEnd {
  return last.isClean || isSameBoot(last.bootId, bootId) ? 'trusted' : 'lost';
}

function readState(file: string): MarkState | null {
  try {
    const { bootId, mark, forgotten, isClean } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    if (typeof bootId !== 'string' || !isSeconds(mark) || !isSeconds(forgotten)) return null;
    return { bootId, mark, forgotten, isClean: isClean === true };
  } catch {
    return null;
  }
}

function isSeconds(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Start times this close to each other are one start: the clock may have been set a little in between. */
const SAME_BOOT_SECONDS = 5;

/** Id of this start of the machine, unlike that of any other start. */
export function readBootId(nowMs: number): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return `started:${Math.round(nowMs / 1000 - uptime())}`;
  }
}

function isSameBoot(a: string, b: string): boolean {
  if (a === b) return true;
  const [first, second] = [startOf(a), startOf(b)];
  return first !== null && second !== null && Math.abs(first - second) <= SAME_BOOT_SECONDS;
}

function startOf(id: string): number | null {
  const match = /^started:(\d+)$/.exec(id);
  return match === null ? null : Number(match[1]);
}

/**
 * For a folder of nonces that may lack what was accepted elsewhere, as on a machine that takes the place of another one:
 * nothing signed up to now is accepted there any more, time stamps ahead by the skew included. Returns until when requests
 * are refused (ISO 8601); null if the folder is this machine's own, and remembers them all. No sidecar may be running.
 */
export async function refuseEarlierRequests(folder: string, skewSeconds: number): Promise<string | null> {
  const now = Date.now();
  const bootId = readBootId(now);
  if (markedBoot(folder, bootId)) return null;
  const nowSeconds = Math.floor(now / 1000);
  const until = nowSeconds + skewSeconds;
  const mark = new TimeMark(folder, bootId);
  mark.begin(nowSeconds, until);
  await mark.close();
  return new Date((until + 1) * 1000).toISOString();
}
