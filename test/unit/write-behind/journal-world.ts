import type { Clock } from '#sidecar/write-behind/journal/clock.ts';
import type { EntryKey, NewEntry } from '#sidecar/write-behind/journal/entries.ts';
import { Journal, type OpenedJournal } from '#sidecar/write-behind/journal/journal.ts';
import { type DiskCall, type DiskFault, SimulatedDisk } from '#support/simulated-disk.ts';

export const FOLDER = '/journal';
const START = 1_790_000_000_000;

/** Stands still until it is told to go on. */
export class ManualClock implements Clock {
  #now = START;
  #timers: { at: number; run: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  monotonicNow(): number {
    return this.#now;
  }

  setTimeout(run: () => void, ms: number): () => void {
    const timer = { at: this.#now + ms, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    };
  }

  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (;;) {
      const due = this.#timers.filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#now = due.at;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      due.run();
      await quiet();
    }
    this.#now = until;
  }
}

/** Everything that the simulated disk has under way is done. */
export async function quiet(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

export interface LogLine {
  readonly level: string;
  readonly message: string;
}

export interface WorldOptions {
  readonly segmentBytes?: number;
  readonly fault?: (call: DiskCall) => DiskFault | null | Promise<DiskFault | null>;
}

/** A journal on a simulated disk, its clock and its log. */
export class JournalWorld {
  readonly clock = new ManualClock();
  readonly disk: SimulatedDisk;
  readonly lines: LogLine[] = [];
  /** Fault of the calls from now on. */
  fault: (call: DiskCall) => DiskFault | null | Promise<DiskFault | null>;
  readonly #segmentBytes: number;

  constructor(options: WorldOptions = {}) {
    this.fault = options.fault ?? (() => null);
    this.#segmentBytes = options.segmentBytes ?? 64 * 1024;
    this.disk = new SimulatedDisk({ intercept: (call) => this.fault(call) });
  }

  open(): Promise<OpenedJournal> {
    const log = (level: string, message: string) => void this.lines.push({ level, message });
    const { clock } = this;
    return Journal.open({ folder: FOLDER, disk: this.disk.mount(), clock, log, segmentBytes: this.#segmentBytes });
  }

  /** The process dies, and the next one opens what it left. */
  reopen(): Promise<OpenedJournal> {
    this.disk.kill();
    return this.open();
  }

  linesOf(level: string): string[] {
    return this.lines.filter((line) => line.level === level).map((line) => line.message);
  }

  segments(): string[] {
    return this.disk.paths().filter((path) => path.endsWith('.log'));
  }

  keyOf(key: string, fingerprint = key): EntryKey {
    return { key, fingerprint, expiresAt: this.clock.now() + 600_000 };
  }
}

export function entryOf(payload: string, more: Partial<NewEntry> = {}): NewEntry {
  return {
    namespace: 'stats',
    token: 1,
    kid: 'local',
    op: 'insert',
    payload,
    time: START,
    pending: 1,
    key: null,
    retryOf: null,
    ...more,
  };
}

export async function appendAll(journal: Journal, payloads: readonly string[]) {
  return await Promise.all(payloads.map((payload) => journal.append(entryOf(payload))));
}

/** Payloads of all that is pending, as the journal gives them back. */
export async function payloadsOf({ journal, pending }: OpenedJournal): Promise<string[]> {
  return (await journal.read(pending)).map((entry) => entry.payload);
}
