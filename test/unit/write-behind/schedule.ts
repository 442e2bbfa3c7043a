import { ApiError } from '#protocol/errors.ts';
import type { WriteBehindConfig } from '#sidecar/config/write-behind.ts';
import { writeOf } from '#sidecar/data/write-of.ts';
import type { AcceptedWrite } from '#sidecar/data/write-queue.ts';
import { Dice } from '#support/buffered/dice.ts';
import type { DiskCall, DiskFault } from '#support/simulated-disk.ts';
import { SimulatedBox, slotOf } from './simulated-box.ts';
import { numberOf, SimulatedDatabase, type Weather } from './simulated-database.ts';
import { SimulatedTime } from './simulated-time.ts';
import { judge, type SentWrite } from './simulated-writes.ts';

const NAMESPACES = ['a', 'b'] as const;
const KEY_MEMORY_MS = 600_000;

interface Action {
  readonly weight: number;
  readonly run: () => void;
}

export interface Verdict {
  readonly faults: readonly string[];
  readonly history: readonly string[];
  readonly acknowledged: number;
}

/** Fault that a schedule must find, to show that it can. */
export type Planted = 'nothing' | 'databaseForgetsPosition' | 'diskLies';

/** A life of one or two sidecars, a database, and the calls and faults on them; the seed decides all of it. */
export class Schedule {
  readonly #dice: Dice;
  readonly #time = new SimulatedTime();
  readonly #database: SimulatedDatabase;
  readonly #boxes: SimulatedBox[];
  readonly #config: WriteBehindConfig;
  readonly #writes: SentWrite[] = [];
  readonly #payloads = new Map<number, { readonly payload: string; readonly sentAt: number }>();
  readonly #faults: string[] = [];
  readonly #history: string[] = [];
  readonly #hasDiskFaults: boolean;
  readonly #isDiskLying: boolean;
  #diskFaultPercent = 0;

  constructor(seed: number, planted: Planted = 'nothing') {
    this.#dice = new Dice(seed);
    const dice = this.#dice;
    const forgetsPosition = planted === 'databaseForgetsPosition';
    this.#isDiskLying = planted === 'diskLies';
    this.#database = new SimulatedDatabase(this.#time, dice, { hasTransactions: dice.chance(70), forgetsPosition });
    this.#hasDiskFaults = dice.chance(30);
    const flushAtPending = dice.scale(32);
    this.#config = {
      journal: '/journal',
      flushIntervalMs: dice.pick([1, 50, 1000]),
      flushAtPending,
      maxPending: dice.pick([8, 60, 1000]),
      maxJournalMegabytes: 1,
      haltAfterFailures: dice.int(1, 5),
      drainOnStopMs: dice.pick([0, 500, 5000]),
      namespaces: new Map(NAMESPACES.map((name) => [name, { consistentReads: true }])),
    };
    this.#boxes = (dice.chance(60) ? ['one', 'two'] : ['one']).map(
      (name) =>
        new SimulatedBox({
          ...{ name, dice, time: this.#time, database: this.#database },
          intercept: (call) => this.#disk(call),
        }),
    );
  }

  async run(): Promise<Verdict> {
    const actions = this.#actions();
    const total = actions.reduce((sum, { weight }) => sum + weight, 0);
    for (const box of this.#boxes) box.start(this.#config);
    await this.#time.pass(this.#dice.int(0, 50));
    for (let steps = this.#dice.int(20, 80); steps > 0; steps -= 1) {
      let at = this.#dice.int(1, total);
      for (const { weight, run } of actions) {
        at -= weight;
        if (at > 0) continue;
        run();
        break;
      }
      await this.#time.pass(this.#dice.chance(50) ? this.#dice.int(0, 5) : this.#dice.scale(4000));
    }
    await this.#comeToRest();
    const acknowledged = this.#writes.filter(({ outcome }) => outcome === 'acknowledged').length;
    const history = [
      ...this.#history,
      ...this.#boxes.flatMap(({ name, log }) => log.map((line) => `${name}: ${line}`)),
    ];
    return { faults: [...this.#faults, ...this.#database.faults], history, acknowledged };
  }

  #actions(): Action[] {
    const dice = this.#dice;
    const database = this.#database;
    const weather = (to: Weather, weight: number): Action => ({
      weight,
      run: () => {
        this.#note(`weather ${to}`);
        database.weather = to;
      },
    });
    return [
      { weight: 40, run: () => this.#send(1) },
      { weight: 15, run: () => this.#send(dice.int(2, 30)) },
      { weight: 10, run: () => this.#repeat() },
      { weight: 15, run: () => this.#drain(dice.pick(this.#boxes), dice.pick(NAMESPACES)) },
      { weight: 8, run: () => this.#crash(dice.pick(this.#boxes)) },
      { weight: 3, run: () => this.#stop(dice.pick(this.#boxes)) },
      { weight: 25, run: () => this.#start() },
      weather('fine', 10),
      weather('rough', 8),
      weather('away', 3),
      weather('hanging', 3),
      { weight: 3, run: () => this.#fence(dice.pick(NAMESPACES)) },
      { weight: 6, run: () => this.#dieInTheMiddle() },
      { weight: 2, run: () => this.#beAway(dice.pick(this.#boxes)) },
      { weight: 3, run: () => this.#changeSchema() },
      { weight: 2, run: () => this.#dropTable(true) },
      { weight: 4, run: () => this.#dropTable(false) },
      { weight: 8, run: () => this.#retryLetters() },
      { weight: 2, run: () => this.#discardLetter() },
      { weight: 4, run: () => this.#breakDisk() },
    ];
  }

  #note(what: string): void {
    this.#history.push(`${this.#time.nowMs} ${what}`);
  }

  #send(count: number, box = this.#dice.pick(this.#boxes), namespace: string = this.#dice.pick(NAMESPACES)): void {
    for (let i = 0; i < count; i += 1) {
      const n = this.#writes.length + 1;
      const extra = this.#dice.chance(30) ? { extra: 1 } : {};
      const payload = JSON.stringify({ namespace, table: 't', rows: [{ n, ...extra }] });
      if (this.#dice.chance(5)) this.#database.refused.add(n);
      const key = this.#dice.chance(30) ? `key ${n}` : null;
      const write: SentWrite = {
        ...{ n, box: box.name, namespace, key, outcome: 'refused', ack: null, isRepeated: false, isDiscarded: false },
      };
      this.#writes.push(write);
      this.#payloads.set(n, { payload, sentAt: this.#time.nowMs });
      this.#transmit(box, write);
    }
    this.#note(`${box.name} ${namespace}: ${count} writes to ${this.#writes.length}`);
  }

  #transmit(box: SimulatedBox, write: SentWrite): void {
    const { buffer } = box;
    if (buffer === null || !buffer.isBuffered(write.namespace)) return;
    const { n, namespace, key } = write;
    const { payload = '' } = this.#payloads.get(n) ?? {};
    const slot = key === null ? null : slotOf(namespace, key, payload, this.#time.epochMs);
    const life = box.life;
    // Refused the second time, it may still be there from the first.
    const isMaybeThere = write.outcome === 'unknown';
    write.outcome = 'flying';
    buffer
      .accept({ namespace, kid: 'k', op: 'insert', payload, slot, ...this.#compiled(box, namespace, payload) })
      .then(
        (ack) => {
          if (box.life === life) this.#acknowledged(write, ack);
        },
        (error: unknown) => {
          if (box.life === life) write.outcome = isMaybeThere ? 'unknown' : this.#refusal(write, error);
        },
      );
  }

  /** As the operations do it, most often. */
  #compiled(box: SimulatedBox, namespace: string, payload: string): Pick<AcceptedWrite, 'work'> {
    const target = box.target(namespace);
    if (target === null || this.#dice.chance(30)) return {};
    const { rows } = JSON.parse(payload);
    const flags = { transactionalSchema: true, transactions: true, filterableJson: true, snapshots: false };
    const capabilities = { ...flags, maxDecimalScale: 34 };
    const context = { capabilities, maxInsertRows: 1000, now: this.#time.epochMs };
    try {
      return { work: { target, write: writeOf('insert', { namespace, table: 't', rows }, target.table, context) } };
    } catch {
      return {};
    }
  }

  #acknowledged(write: SentWrite, ack: string): void {
    write.outcome = 'acknowledged';
    write.ack = ack;
    const { queued, id, pending } = JSON.parse(ack);
    if (queued !== true || typeof id !== 'string' || !(pending >= 1)) this.#faults.push(`acknowledgement ${ack}`);
  }

  #refusal({ n }: SentWrite, error: unknown): 'refused' | 'unknown' {
    const code = error instanceof ApiError ? error.code : null;
    if (code === null || !['write_buffer_full', 'write_buffer_unavailable'].includes(code)) {
      this.#faults.push(`write ${n} was refused with ${error instanceof Error ? error.stack : error}`);
    }
    return error instanceof Error && error.message.includes('unknown') ? 'unknown' : 'refused';
  }

  /** A client that has heard nothing, or has forgotten what it heard, sends the same again. */
  #repeat(): void {
    const keyed = this.#writes.filter(({ key, outcome }) => key !== null && outcome !== 'flying');
    if (keyed.length === 0) return;
    const write = this.#dice.pick(keyed);
    const box = this.#boxes.find(({ name }) => name === write.box);
    const { payload = '', sentAt = 0 } = this.#payloads.get(write.n) ?? {};
    const buffer = box?.buffer ?? null;
    if (box === undefined || buffer === null || this.#time.nowMs - sentAt >= KEY_MEMORY_MS) return;
    const answer = buffer.recall(slotOf(write.namespace, write.key ?? '', payload, this.#time.epochMs));
    this.#note(`${write.n} again: ${answer}`);
    if (write.ack !== null && answer !== write.ack)
      this.#faults.push(`write ${write.n} again: ${write.ack}, ${answer}`);
    if (answer !== null && write.outcome === 'refused') this.#faults.push(`write ${write.n} was refused and is known`);
    if (answer !== null) this.#acknowledged(write, answer);
    else if (write.ack === null) {
      write.isRepeated = true;
      this.#transmit(box, write);
    }
  }

  #drain(box: SimulatedBox, namespace: string): void {
    const { buffer } = box;
    if (buffer === null) return;
    const before = this.#writes.filter(
      (write) => write.box === box.name && write.namespace === namespace && write.outcome === 'acknowledged',
    );
    const deadline = this.#time.nowMs + this.#dice.scale(5000);
    const life = box.life;
    buffer.drain(namespace, deadline).then(
      () => {
        if (box.life === life) this.#checkDrained(before);
      },
      (error: unknown) => {
        if (box.life === life) this.#checkRefusedDrain(error, deadline);
      },
    );
  }

  #checkDrained(writes: readonly SentWrite[]): void {
    const there = new Set([...this.#database.applied.map(({ n }) => n), ...this.#letterNumbers()]);
    for (const { n, isDiscarded } of writes) {
      if (!isDiscarded && !there.has(n)) this.#faults.push(`write ${n} was to be drained, and is not there`);
    }
  }

  #checkRefusedDrain(error: unknown, deadline: number): void {
    if (!(error instanceof ApiError) || error.code !== 'write_buffer_halted') this.#faults.push(`a drain: ${error}`);
    if (this.#time.nowMs > deadline + 1) this.#faults.push('a drain took longer than its time');
  }

  /** Kills the sidecar in the middle of applying, or replaces the rows below it; others write on. */
  #dieInTheMiddle(): void {
    const dice = this.#dice;
    const namespace = dice.pick(NAMESPACES);
    const box = dice.pick(this.#boxes);
    this.#send(dice.int(1, 20), box, namespace);
    this.#time.after(dice.int(3, 8), () => this.#drain(box, namespace));
    const endsAfterMs = dice.int(5, 40);
    const isFenced = dice.chance(50);
    this.#time.after(endsAfterMs, () => {
      if (isFenced) this.#fence(namespace);
      if (!isFenced || dice.chance(40)) this.#crash(box);
      for (const other of this.#boxes) if (other !== box) this.#send(dice.int(1, 5), other, namespace);
    });
    if (isFenced) this.#sendMeanwhile(box, namespace, endsAfterMs);
  }

  /** Before the sidecar has noticed, with writes on their way to the disk that were accepted for the rows of before. */
  #sendMeanwhile(box: SimulatedBox, namespace: string, afterMs: number): void {
    const dice = this.#dice;
    this.#time.after(afterMs + dice.int(1, 10), () => {
      this.#send(dice.int(1, 5), box, namespace);
      this.#drain(box, namespace);
    });
    if (dice.chance(50)) this.#time.after(afterMs + dice.int(10, 60), () => this.#crash(box));
  }

  /** Longer than its writes are young, while others write. */
  #beAway(box: SimulatedBox): void {
    const dice = this.#dice;
    const namespace = dice.pick(NAMESPACES);
    this.#send(dice.int(1, 10), box, namespace);
    this.#time.after(dice.int(1, 10), () => this.#crash(box));
    for (const other of this.#boxes) {
      if (other !== box) this.#time.after(dice.int(20, 59_000), () => this.#send(1, other, namespace));
    }
    this.#time.after(dice.int(55_000, 70_000), () => {
      if (box.isDown) box.start(this.#config);
    });
  }

  #crash(box: SimulatedBox): void {
    const kind = this.#dice.pick(['kill', 'powerCut'] as const);
    this.#note(`${box.name}: ${kind}`);
    box.crash(kind);
    this.#forgetFlying(box);
  }

  #forgetFlying(box: SimulatedBox): void {
    for (const write of this.#writes) {
      if (write.box === box.name && write.outcome === 'flying') write.outcome = 'unknown';
    }
  }

  #stop(box: SimulatedBox): void {
    this.#note(`${box.name}: stop`);
    box.stop().then(
      () => this.#forgetFlying(box),
      (error: unknown) => this.#faults.push(`a stop: ${error instanceof Error ? error.stack : error}`),
    );
  }

  #start(): void {
    const box = this.#boxes.find(({ isDown }) => isDown);
    if (box === undefined) return;
    const isNarrow = this.#dice.chance(15);
    const namespaces = new Map([...this.#config.namespaces].slice(0, isNarrow ? 1 : 2));
    this.#note(`${box.name}: start${isNarrow ? ' without b' : ''}`);
    box.start({ ...this.#config, namespaces });
  }

  #fence(namespace: string): void {
    if (this.#database.weather === 'away') return;
    this.#note(`${namespace} is restored`);
    this.#database.fence(namespace);
  }

  #changeSchema(): void {
    const hasExtra = this.#dice.chance(70);
    this.#note(`schema ${hasExtra ? 'with' : 'without'} extra`);
    this.#database.changeSchema(hasExtra);
  }

  #dropTable(isDropped: boolean): void {
    this.#note(isDropped ? 'table dropped' : 'table made');
    this.#database.dropTable(isDropped);
  }

  #retryLetters(): void {
    this.#note('letters wanted');
    if (this.#dice.chance(50)) this.#database.refused.clear();
    for (const id of this.#database.letters.keys()) if (this.#dice.chance(70)) this.#database.wantRetry(id);
  }

  #discardLetter(): void {
    const ids = [...this.#database.letters.keys()];
    if (ids.length === 0) return;
    const id = this.#dice.pick(ids);
    const n = numberOf(this.#database.letters.get(id)?.payload ?? '');
    this.#note(`letter of ${n} discarded`);
    this.#database.letters.delete(id);
    const write = this.#writes.find((one) => one.n === n);
    if (write !== undefined) write.isDiscarded = true;
  }

  #breakDisk(): void {
    if (!this.#hasDiskFaults) return;
    this.#diskFaultPercent = this.#dice.pick([0, 5, 50, 100]);
    this.#note(`disk fails ${this.#diskFaultPercent} %`);
  }

  /** Only what waits for the disk's platter takes time, and fails. */
  #disk({ kind }: DiskCall): Promise<DiskFault | null> | null {
    if (kind !== 'flush' && kind !== 'write') return null;
    const dice = this.#dice;
    const ms = kind === 'write' ? 0 : dice.chance(3) ? dice.int(10, 2000) : dice.int(0, 4);
    return new Promise((resolve) => this.#time.after(ms, () => resolve(this.#diskFault(kind))));
  }

  #diskFault(kind: 'flush' | 'write'): DiskFault | null {
    const dice = this.#dice;
    if (this.#isDiskLying && kind === 'flush') return { lie: true };
    if (!dice.chance(this.#diskFaultPercent)) return null;
    return kind === 'flush' ? { error: 'EIO' } : dice.pick([{ error: 'ENOSPC' }, { short: dice.int(1, 600) }]);
  }

  #letterNumbers(): number[] {
    return [...this.#database.letters.values()].map(({ payload }) => numberOf(payload));
  }

  #judge(when: string): void {
    const evidence = { applied: this.#database.applied, letters: this.#letterNumbers() };
    this.#faults.push(...judge(this.#writes, evidence).map((fault) => `${when}: ${fault}`));
  }

  /** Everything works again: all that was acknowledged must come to its place, and then every dead letter must too. */
  async #comeToRest(): Promise<void> {
    this.#note('everything works again');
    const database = this.#database;
    this.#diskFaultPercent = 0;
    database.weather = 'fine';
    database.dropTable(false);
    database.changeSchema(true);
    await this.#time.pass(60_000);
    for (const box of this.#boxes) this.#stop(box);
    await this.#time.pass(60_000);
    for (const box of this.#boxes) box.start(this.#config);
    await this.#time.pass(60_000);
    this.#judge('at rest');
    this.#note('letters are tried again');
    database.refused.clear();
    for (const id of database.letters.keys()) database.wantRetry(id);
    await this.#time.pass(60_000);
    this.#judge('after the retries');
    if (database.letters.size > 0) this.#faults.push(`${database.letters.size} letters are not tried again`);
    for (const box of this.#boxes) await this.#checkIdle(box);
  }

  async #checkIdle({ name, buffer }: SimulatedBox): Promise<void> {
    if (buffer === null) {
      this.#faults.push(`${name} does not serve`);
      return;
    }
    const health = buffer.health();
    if (health.pending !== 0) this.#faults.push(`${name}: ${JSON.stringify(health)}`);
    for (const namespace of NAMESPACES) {
      const flushing = buffer.flush(namespace, this.#time.nowMs + 1000);
      await this.#time.pass(1000);
      const flushed = JSON.stringify(await flushing);
      const expected = { flushed: 0, deadLettered: 0, remaining: 0, halted: false, enabled: true };
      if (flushed !== JSON.stringify(expected)) this.#faults.push(`${name} ${namespace}: flush ${flushed}`);
    }
  }
}
