import type { IdempotencySlot, TableTarget } from '#engine/rows.ts';
import type { WriteBehindConfig } from '#sidecar/config/write-behind.ts';
import { SchemaCatalog } from '#sidecar/schema/catalog.ts';
import { Journal } from '#sidecar/write-behind/journal/journal.ts';
import { WriteBuffer } from '#sidecar/write-behind/write-buffer.ts';
import type { Dice } from '#support/buffered/dice.ts';
import { type DiskCall, type DiskFault, SimulatedDisk } from '#support/simulated-disk.ts';
import type { SimulatedDatabase } from './simulated-database.ts';
import type { SimulatedTime } from './simulated-time.ts';

export interface BoxOptions {
  readonly name: string;
  readonly time: SimulatedTime;
  readonly dice: Dice;
  readonly database: SimulatedDatabase;
  /** Fault of the operating system at a call of the disk. */
  readonly intercept: (call: DiskCall) => DiskFault | null | Promise<DiskFault | null>;
}

interface Running {
  readonly catalog: SchemaCatalog;
  readonly journal: Journal;
  readonly buffer: WriteBuffer;
}

/** A machine with a disk, on which a sidecar runs, dies and is started again. */
export class SimulatedBox {
  readonly name: string;
  readonly log: string[] = [];
  readonly #targets = new Map<string, TableTarget>();
  readonly #options: BoxOptions;
  readonly #disk: SimulatedDisk;
  #life = 0;
  #kill: () => void = () => {};
  #running: Running | null = null;
  #isStopping = false;
  journalId: string | null = null;

  constructor(options: BoxOptions) {
    this.name = options.name;
    this.#options = options;
    this.#disk = new SimulatedDisk({ intercept: options.intercept });
  }

  /** Null while no sidecar serves there. */
  get buffer(): WriteBuffer | null {
    return this.#isStopping ? null : (this.#running?.buffer ?? null);
  }

  /** The table of a namespace as it was known when it was looked at last; the next time it is looked at again. */
  target(namespace: string): TableTarget | null {
    const bounds = { deadline: this.#options.time.nowMs + 4000 };
    this.#running?.catalog.table(namespace, 't', bounds).then(
      (target) => this.#targets.set(namespace, target),
      () => {},
    );
    return this.#targets.get(namespace) ?? null;
  }

  /** By which a write would be checked now; the code of the error where there is none. */
  async revision(namespace: string): Promise<number | string | undefined> {
    const bounds = { deadline: this.#options.time.nowMs + 4000 };
    return this.#running?.catalog.getForQueue(namespace, bounds).then(
      ({ revision }) => revision,
      ({ code }) => String(code),
    );
  }

  /** Copies the journal's folder; the result restores it later, on this box or another one. */
  backup(): (box?: SimulatedBox) => void {
    const files = this.#disk.paths().map((path) => ({ path, bytes: this.#disk.contentOf(path).slice() }));
    return (box = this) => {
      const disk = box.#disk;
      for (const path of disk.paths()) disk.destroy(path);
      for (const { path, bytes } of files) disk.replace(path, bytes);
    };
  }

  /** Another number after every crash and stop. */
  get life(): number {
    return this.#life;
  }

  get isDown(): boolean {
    return this.#life % 2 === 0;
  }

  /** The configuration may be another one than before. */
  start(config: WriteBehindConfig): void {
    if (!this.isDown) return;
    this.#life += 1;
    const life = this.#life;
    const connection = this.#options.database.connect();
    const isDead = () => this.#life !== life;
    this.#kill = () => {
      this.#life += 1;
      this.#running = null;
      this.#isStopping = false;
      connection.cut();
    };
    void this.#open(connection.engine, config, isDead);
  }

  /** As `kill -9`, or as a power cut, after which the disk holds what it likes of what was not flushed. */
  crash(kind: 'kill' | 'powerCut'): void {
    if (this.isDown) return;
    this.#kill();
    if (kind === 'kill') this.#disk.kill();
    else this.#disk.powerCut(() => this.#options.dice.int(0, 999_999) / 1_000_000);
  }

  async stop(): Promise<void> {
    const running = this.#running;
    const life = this.#life;
    if (running === null || this.#isStopping) return;
    this.#isStopping = true;
    await running.buffer.stop();
    await running.journal.close();
    if (this.#life === life) this.#kill();
  }

  async #open(
    engine: ReturnType<SimulatedDatabase['connect']>['engine'],
    config: WriteBehindConfig,
    isDead: () => boolean,
  ): Promise<void> {
    const { time, dice } = this.#options;
    const clock = time.clockOf(isDead);
    const log = (level: string, message: string) => {
      this.log.push(`${time.nowMs} ${level} ${message}`);
    };
    try {
      const opened = await Journal.open({
        folder: '/journal',
        disk: this.#disk.mount(),
        clock,
        log,
        segmentBytes: 32_768,
      });
      if (isDead()) return;
      this.journalId = opened.journal.id;
      const catalog = new SchemaCatalog(engine, clock.now);
      const random = () => dice.int(0, 999) / 1000;
      const options = { engine, catalog, config, clock, log, random, statementTimeoutMs: 4000 };
      const { journal, pending } = opened;
      const buffer = await WriteBuffer.open({ ...options, journal, pending });
      if (!isDead()) this.#running = { journal, buffer, catalog };
    } catch (error) {
      if (isDead()) return;
      log('error', `could not start: ${error instanceof Error ? error.message : error}`);
      this.crash('kill');
    }
  }
}

export function slotOf(namespace: string, key: string, payload: string, now: number): IdempotencySlot {
  return { kid: 'k', namespace, key, fingerprint: payload, now, expiresAt: now + 600_000 };
}
