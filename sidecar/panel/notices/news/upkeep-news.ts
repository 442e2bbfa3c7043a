import { X509Certificate } from 'node:crypto';
import { readFile, statfs } from 'node:fs/promises';
import type { TellNews } from '../news.ts';

const LOOK_MS = 60_000;
const DAY_MS = 86_400_000;
const SOON_MS = 14 * DAY_MS;
const LOW = 0.1;
/** A disk at the bound must not be told again and again. */
const WELL = 0.12;

export interface UpkeepNewsOptions {
  /** Its disk is watched. */
  readonly folder: string;
  /** PEM file of the API's certificate; null: it has none. */
  readonly certificate: string | null;
  /** Old secrets of keys, and when they end (epoch milliseconds). */
  readonly endingKeys: readonly { readonly kid: string; readonly until: number }[];
  /** Writes that were set aside. */
  readonly deadLetters: () => number;
  readonly tell: TellNews;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Looks every minute at what ends or fills up by itself. */
export class UpkeepNews {
  readonly #options: UpkeepNewsOptions;
  /** Day on which the end of a certificate or key was told last. */
  readonly #toldOn = new Map<string, number>();
  #isLow = false;
  #letters: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: UpkeepNewsOptions) {
    this.#options = options;
    this.#letters = options.deadLetters();
  }

  open(): void {
    this.#timer ??= setInterval(() => void this.look(), LOOK_MS).unref();
    void this.look();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async look(): Promise<void> {
    this.#tellLetters();
    for (const { kid, until } of this.#options.endingKeys) this.#tellEnd('key.ending', kid, until);
    await this.#lookAtCertificate();
    await this.#lookAtDisk();
  }

  #tellLetters(): void {
    const [letters, before] = [this.#options.deadLetters(), this.#letters];
    this.#letters = letters;
    if (letters <= before) return;
    this.#options.tell({ event: 'queue.deadLetters', facts: [`+${letters - before}`], data: { count: letters } });
  }

  /** Once a day, until it has ended. */
  #tellEnd(event: 'key.ending' | 'certificate.ending', name: string, endsAt: number): void {
    const { tell, now } = this.#options;
    const [left, day] = [endsAt - now(), Math.floor(now() / DAY_MS)];
    if (left < 0 || left > SOON_MS || this.#toldOn.get(name) === day) return;
    this.#toldOn.set(name, day);
    const at = new Date(endsAt).toISOString();
    tell({ event, facts: [name, at], data: { name, at } });
  }

  async #lookAtCertificate(): Promise<void> {
    const { certificate } = this.#options;
    if (certificate === null) return;
    try {
      const { validTo } = new X509Certificate(await readFile(certificate));
      this.#tellEnd('certificate.ending', certificate, Date.parse(validTo));
    } catch {
      // A file that is being replaced is read at the next look.
    }
  }

  async #lookAtDisk(): Promise<void> {
    const { folder, tell } = this.#options;
    const disk = await statfs(folder).catch(() => null);
    if (disk === null) return;
    const { bavail, blocks, bsize } = disk;
    const share = bavail / Math.max(1, blocks);
    const wasLow = this.#isLow;
    this.#isLow = share < (wasLow ? WELL : LOW);
    if (!this.#isLow || wasLow) return;
    const [freeBytes, totalBytes] = [bavail * bsize, blocks * bsize];
    const facts = [folder, `${Math.floor(freeBytes / 2 ** 20)} MiB (${Math.floor(share * 100)} %)`];
    tell({ event: 'disk.low', facts, data: { folder, freeBytes, totalBytes } });
  }
}
