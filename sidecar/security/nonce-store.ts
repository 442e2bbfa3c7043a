import { hash } from 'node:crypto';
import { flushFile, NonceFile, nonceFilesOf, readNonceFile, removeFile } from './nonce-file.ts';
import { NonceTable } from './nonce-table.ts';
import { MARK_AHEAD_SECONDS, TimeMark } from './time-mark.ts';

/** Some 26,000 requests a second for as long as a nonce is remembered at the default skew; 32 to 64 MB. */
const DEFAULT_CAPACITY = 4_000_000;
const GENERATIONS_IN_SKEW = 4;
const KEEP_AHEAD_MS = 5000;
const IDLE_SECONDS = 300;
/** A running sidecar whose clock goes back by less refuses what it forgot for as long as that takes. */
const FAR_AHEAD_SECONDS = 3600;
const ZERO = 0x30;
const NINE = 0x39;
const LOWER_A = 0x61;

export interface NonceStoreOptions {
  /** Made if it is missing; one running sidecar a folder. */
  readonly folder: string;
  readonly skewSeconds: number;
  /** Epoch seconds. */
  readonly nowSeconds: () => number;
  readonly bootId: string;
  readonly capacity?: number;
  /** Lines for the operator. */
  readonly warn: (line: string) => void;
}

/**
 * `early`: signed before the moment from which this sidecar can tell a replay (after a power failure, or if the
 * clock went back). `refused`: full, or the disk does not take it. Neither is the caller's fault.
 */
export type NonceVerdict = 'new' | 'replayed' | 'early' | 'refused';

interface Generation {
  readonly table: NonceTable;
  readonly files: readonly string[];
  readonly start: number;
  readonly end: number;
  newestTs: number;
}

/**
 * Remembers every nonce of a right signature for longer than its time stamp can be accepted, in memory and in files
 * (contract section 3.5). Nonces are kept as 64 bits of SHA-256 over key id and nonce, in generations of a quarter of
 * the skew, so that forgetting is dropping a whole table and a whole file.
 */
export class NonceStore {
  readonly #options: NonceStoreOptions;
  readonly #capacity: number;
  readonly #mark: TimeMark;
  #generations: Generation[] = [];
  #file: NonceFile | null = null;
  #size = 0;
  #warnedAt = Number.NEGATIVE_INFINITY;
  #usedAt = Number.NEGATIVE_INFINITY;
  #waiting: ((isKept: boolean) => void)[] = [];
  #hasLost = false;
  readonly #timer: NodeJS.Timeout;

  constructor(options: NonceStoreOptions) {
    this.#options = options;
    this.#capacity = options.capacity ?? DEFAULT_CAPACITY;
    this.#mark = new TimeMark(options.folder, options.bootId);
    const isTrusted = this.#mark.lastEnd === 'trusted' || this.#mark.lastEnd === 'none';
    if (isTrusted) this.#load();
    const nowSeconds = options.nowSeconds();
    const refusedUntil = isTrusted ? 0 : this.#distrust(nowSeconds);
    if (this.#rewind(nowSeconds, options.skewSeconds) && isTrusted) this.#warnOfRewind(nowSeconds);
    this.#mark.begin(nowSeconds, refusedUntil);
    this.#timer = setInterval(() => this.#keepAhead(), KEEP_AHEAD_MS).unref();
  }

  get size(): number {
    return this.#size;
  }

  /** Seconds until what is signed now is accepted; 0 in ordinary times. */
  waitSeconds(nowSeconds: number): number {
    return Math.max(0, this.#mark.forgotten + 1 - nowSeconds);
  }

  /** Call it only for a right signature. `new` is remembered here, and by the disk's cache once `whenKept` says so. */
  accept(kid: string, nonce: string, ts: number, nowSeconds: number): NonceVerdict {
    this.#usedAt = nowSeconds;
    if (ts <= this.#mark.forgotten) return this.#refuseEarly(nowSeconds);
    // As text: a buffer would take three times as long as the hash itself.
    const digest = hash('sha256', `${kid}\n${nonce}`, 'hex');
    const high = hexWord(digest, 0);
    const low = hexWord(digest, 8) || 1;
    for (const generation of this.#generations) {
      if (generation.table.has(high, low)) return 'replayed';
    }
    if (this.#size >= this.#capacity) this.#dropOld(nowSeconds);
    if (this.#size >= this.#capacity) return this.#refuse(nowSeconds, 'the replay store is full');
    try {
      this.#mark.reach(nowSeconds);
      const generation = this.#current(nowSeconds);
      (this.#file as NonceFile).add(ts, high, low);
      generation.table.add(high, low);
      this.#size += 1;
      generation.newestTs = Math.max(generation.newestTs, ts);
      return 'new';
    } catch (error) {
      // The records that wait in this turn may be lost with it.
      this.#hasLost = this.#waiting.length > 0;
      return this.#refuse(nowSeconds, `the replay store cannot be written: ${(error as Error).message}`);
    }
  }

  /**
   * Calls `then` once all that was accepted in this turn of the event loop is in the file, with one write for all of it;
   * with false if the disk refused it. `then` must not throw.
   */
  whenKept(then: (isKept: boolean) => void): void {
    this.#waiting.push(then);
    if (this.#waiting.length === 1) setImmediate(() => this.#keep());
  }

  #keep(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    let isKept = !this.#hasLost;
    this.#hasLost = false;
    try {
      this.#file?.write();
    } catch (error) {
      isKept = false;
      this.#refuse(this.#usedAt, `the replay store cannot be written: ${(error as Error).message}`);
    }
    for (const then of waiting) then(isKept);
  }

  /** Everything flushed, so that the next start trusts it also after a restart of the machine. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    try {
      this.#file?.close();
      this.#file = null;
      for (const generation of this.#generations) generation.files.forEach(flushFile);
      await this.#mark.close();
    } catch (error) {
      const { folder, warn } = this.#options;
      warn(
        `${folder} cannot be written, and a restart of the machine will refuse requests: ${(error as Error).message}`,
      );
    }
  }

  #load(): void {
    const { folder, skewSeconds } = this.#options;
    const files = nonceFilesOf(folder);
    const table = new NonceTable();
    let newestTs = 0;
    for (const file of files) {
      readNonceFile(file, (ts, high, low) => {
        table.add(high, low);
        newestTs = Math.max(newestTs, ts);
      });
    }
    this.#size = table.size;
    // Stored no later than the newest time stamp plus the skew.
    const end = newestTs + skewSeconds;
    if (files.length > 0) this.#generations.push({ table, files, start: 0, end, newestTs });
  }

  /**
   * Appended nonces may be lost: nothing signed before the last mark plus the skew is good any more. Returns that moment;
   * it is kept on the disk, for the start after this one.
   */
  #distrust(nowSeconds: number): number {
    const { folder, skewSeconds, warn } = this.#options;
    const isLost = this.#mark.lastEnd === 'lost';
    const isAhead = this.#mark.seconds > nowSeconds + skewSeconds + MARK_AHEAD_SECONDS;
    const refusedUntil = (isLost && !isAhead ? this.#mark.seconds : nowSeconds) + skewSeconds;
    nonceFilesOf(folder).forEach(removeFile);
    const restarted = `the machine was restarted while the sidecar ran${isAhead ? ' and the clock was far ahead' : ''}`;
    const why = isLost ? restarted : `${folder} cannot be read`;
    const until = isoTime(refusedUntil + 1);
    const seconds = Math.max(0, refusedUntil + 1 - nowSeconds);
    warn(`${why}, so a request could be replayed: what was signed before ${until} is refused, for ${seconds} s`);
    return refusedUntil;
  }

  /**
   * Times on the disk more than `allowedSeconds` beyond what a right clock writes are of a clock that was far ahead. Its
   * nonces that were dropped are refused for the skew instead of until that time comes. True if there are such nonces.
   */
  #rewind(nowSeconds: number, allowedSeconds: number): boolean {
    const { skewSeconds } = this.#options;
    const { seconds, forgotten } = this.#mark;
    const latest = nowSeconds + MARK_AHEAD_SECONDS + allowedSeconds;
    const isForgottenAhead = forgotten > latest + skewSeconds;
    if (seconds > latest || isForgottenAhead) this.#mark.rewind(nowSeconds, nowSeconds + skewSeconds);
    return isForgottenAhead;
  }

  #warnOfRewind(nowSeconds: number): void {
    const { skewSeconds, warn } = this.#options;
    const until = isoTime(nowSeconds + skewSeconds + 1);
    warn(`the clock was far ahead, so a request could be replayed: what was signed before ${until} is refused`);
  }

  #current(nowSeconds: number): Generation {
    const last = this.#generations.at(-1);
    const isCurrent = last !== undefined && this.#file !== null && nowSeconds >= last.start && nowSeconds < last.end;
    if (isCurrent) return last;
    this.#dropOld(nowSeconds);
    const seconds = Math.ceil(this.#options.skewSeconds / GENERATIONS_IN_SKEW);
    const next = new NonceFile(this.#options.folder);
    const before = this.#file;
    this.#file = next;
    const generation = {
      table: new NonceTable(last?.table.size ?? 0),
      files: [next.path],
      start: nowSeconds,
      end: nowSeconds + seconds,
      newestTs: 0,
    };
    this.#generations.push(generation);
    // Last: if the old file fails, this request is refused, and the next ones are written to the new file.
    before?.close();
    return generation;
  }

  /** A generation is dropped once no time stamp in it can be accepted, and no earlier than twice the skew after its end. */
  #dropOld(nowSeconds: number): void {
    const isOld = (generation: Generation) =>
      nowSeconds > Math.max(generation.end, generation.newestTs) + 2 * this.#options.skewSeconds;
    const old = this.#generations.filter(isOld);
    if (old.length === 0) return;
    this.#generations = this.#generations.filter((generation) => !isOld(generation));
    for (const generation of old) this.#size -= generation.table.size;
    const newestTs = Math.max(...old.map((generation) => generation.newestTs));
    void this.#mark.forget(newestTs).then((isKept) => {
      if (isKept) for (const generation of old) generation.files.forEach(removeFile);
    });
  }

  /** So that no request waits for the mark's flush. After five minutes without one, the disk is left in peace. */
  #keepAhead(): void {
    const nowSeconds = this.#options.nowSeconds();
    if (nowSeconds - this.#usedAt > IDLE_SECONDS) return;
    try {
      this.#mark.reach(nowSeconds);
    } catch {
      // The next request finds the same, and is refused with a line.
    }
  }

  #refuseEarly(nowSeconds: number): NonceVerdict {
    if (this.#rewind(nowSeconds, FAR_AHEAD_SECONDS)) this.#warnOfRewind(nowSeconds);
    const wait = this.waitSeconds(nowSeconds);
    const { folder } = this.#options;
    const why = 'the clock went back, or the machine was restarted';
    if (wait > 0) this.#warn(nowSeconds, `requests are refused for ${wait} s more: ${why}; ${folder} tells`);
    return 'early';
  }

  #refuse(nowSeconds: number, why: string): NonceVerdict {
    this.#warn(nowSeconds, `${why}; requests are refused`);
    return 'refused';
  }

  /** At most one line in ten seconds. */
  #warn(nowSeconds: number, line: string): void {
    if (Math.abs(nowSeconds - this.#warnedAt) < 10) return;
    this.#warnedAt = nowSeconds;
    this.#options.warn(line);
  }
}

/** The 32 bits of eight lower-case hexadecimal digits; `parseInt` of a slice takes several times as long. */
function hexWord(digits: string, from: number): number {
  let word = 0;
  for (let at = from; at < from + 8; at += 1) {
    const code = digits.charCodeAt(at);
    word = word * 16 + (code <= NINE ? code - ZERO : code - LOWER_A + 10);
  }
  return word;
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
