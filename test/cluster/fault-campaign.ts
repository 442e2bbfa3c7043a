import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Dice } from '#support/buffered/dice.ts';
import type { Box } from '#support/cluster/box.ts';
import { Ledger, NOTHING_WRONG } from './acknowledged.ts';
import { MovingSchema } from './moving-schema.ts';

const CALLERS = 6;
/** The time of a request, and what a busy machine adds. */
const MAX_CALL_MS = 15_000;
/** Faults between two looks at everything. */
const FAULTS_PER_LOOK = 20;
/** Pause of a sidecar beyond its lease, which another one takes after 10 s; and beyond its row, dead to the others after 35 s. */
const BEYOND_LEASE_MS = [11_000, 13_000] as const;
const BEYOND_ROW_MS = [38_000, 48_000] as const;
/** `npm test` has no time for them. */
const BEYOND_ROW_PERCENT = process.env.SOAK_REPORT === undefined ? 0 : 15;
/** Clocks of two boxes are as far from each other, at most. */
const MAX_SHIFT_MS = 20 * 60_000;

/** Does its harm, and repairs it. */
export type Fault = () => Promise<void>;

export interface Campaign {
  readonly faults: number;
  readonly dice: Dice;
  readonly boxes: readonly Box[];
  /** Faults of the databases. */
  readonly kinds: Readonly<Record<string, Fault>>;
  /** Resolves when the databases are whole again. */
  isWhole(): Promise<void>;
  /** Whether a sidecar holds the lease of this namespace's schema. */
  isLeaseHeld(namespace: string): Promise<boolean>;
  /** Whether a database may answer reads that does not have all acknowledged writes. Default: none ever does. */
  readonly mayReadOld?: () => boolean;
}

/** Hurts databases and sidecars under load, and compares all that was answered with what is there. */
export class FaultCampaign {
  readonly #campaign: Campaign;
  readonly #ledger: Ledger;
  readonly #schema = new MovingSchema();
  readonly #done: Record<string, number> = {};

  constructor(campaign: Campaign) {
    this.#campaign = campaign;
    this.#ledger = new Ledger(campaign.mayReadOld);
  }

  /** `npm run soak` says when to stop (`SOAK_STOP`: a file), and is told how far it came (`SOAK_REPORT`: a file). */
  async run(): Promise<void> {
    const { faults, boxes } = this.#campaign;
    await this.#knowEachOther();
    await this.#ledger.prepare(this.#client(0));
    await this.#schema.prepare(this.#client(0));
    for (let done = 0; done < faults && !isStopped(); ) {
      const callers = Array.from({ length: CALLERS }, (_, caller) =>
        this.#ledger.load((attempt) => this.#client(caller + attempt), `look${done}-${caller}`),
      );
      for (const until = Math.min(faults, done + FAULTS_PER_LOOK); done < until && !isStopped(); done += 1) {
        await this.#fault();
      }
      this.#ledger.end();
      await Promise.all(callers);
      for (const { client } of boxes) expect(await this.#ledger.judge(client)).toEqual(NOTHING_WRONG);
      expect(await this.#schema.judge(boxes.map(({ client }) => client))).toEqual([]);
      this.#ledger.begin();
      this.#report(done);
    }
    expect(this.#ledger.longestCallMs).toBeLessThan(MAX_CALL_MS);
  }

  /** Before that, one request may be done at each of two sidecars (docs/cluster.md). */
  async #knowEachOther(): Promise<void> {
    const clients = this.#campaign.boxes.map(({ client }) => client);
    const heads = await Promise.all(clients.map((client) => client.get('/v1/health')));
    const instances = heads.map(({ body }) => String((JSON.parse(body) as { instance: string }).instance));
    for (const client of clients) {
      const health = async () => JSON.stringify(await client.must('health'));
      for (const instance of instances) await expect.poll(health).toContain(instance);
    }
  }

  #client(position: number) {
    const { boxes } = this.#campaign;
    return (boxes[position % boxes.length] as Box).client;
  }

  async #fault(): Promise<void> {
    const { dice, kinds, isWhole } = this.#campaign;
    const all = { ...kinds, ...this.#ofBoxes() };
    const kind = dice.pick(Object.keys(all));
    await this.#ledger.more(20);
    try {
      await all[kind]?.();
      await isWhole();
      await this.#ledger.more(20);
    } catch (error) {
      throw new Error(`fault ${kind}, after ${JSON.stringify(this.#done)}`, { cause: error });
    }
    this.#done[kind] = (this.#done[kind] ?? 0) + 1;
  }

  #ofBoxes(): Record<string, Fault> {
    const { dice, boxes } = this.#campaign;
    const box = (): Box => dice.pick(boxes);
    return {
      sidecar: async () => {
        const hurt = box();
        await hurt.kill();
        await wait(dice.int(0, 1500));
        await hurt.start();
      },
      zombie: () => this.#zombie(box()),
      clock: () => this.#clock(box()),
    };
  }

  /**
   * Its clock goes ahead of the others', who may be set to it afterwards. No clock goes back: a running sidecar then refuses
   * what it has forgotten for as long as that takes (contract section 3.5).
   */
  async #clock(hurt: Box): Promise<void> {
    const { dice, boxes } = this.#campaign;
    const behindMs = Math.min(...boxes.map(({ aheadMs }) => aheadMs));
    hurt.shiftClock(dice.int(hurt.aheadMs, behindMs + MAX_SHIFT_MS));
    await this.#ledger.more(200);
    const latestMs = Math.max(...boxes.map(({ aheadMs }) => aheadMs));
    if (dice.chance(50)) for (const box of boxes) box.shiftClock(latestMs);
    await this.#ledger.more(200);
  }

  /** Stopped in the middle of a schema change, which another sidecar takes over, and woken up after that. */
  async #zombie(zombie: Box): Promise<void> {
    const { dice, boxes, isLeaseHeld } = this.#campaign;
    const [leastMs, mostMs] = dice.chance(BEYOND_ROW_PERCENT) ? BEYOND_ROW_MS : BEYOND_LEASE_MS;
    const pauseMs = dice.int(leastMs, mostMs);
    let isOver = false;
    const change = this.#schema.change(zombie.client).finally(() => {
      isOver = true;
    });
    while (!isOver && !(await isLeaseHeld('moving').catch(() => false)));
    await wait(dice.int(0, 40));
    zombie.pause();
    const others = boxes.filter((box) => box !== zombie);
    const takeOver = async (): Promise<void> => {
      while ((await this.#schema.change(dice.pick(others).client)) !== 'done');
    };
    const isTaken = takeOver();
    await wait(pauseMs);
    zombie.resume();
    await Promise.all([change, isTaken]);
  }

  #report(done: number): void {
    const { longestCallMs, calls } = this.#ledger;
    const report = { amount: done, details: { faults: this.#done, calls, longestCallMs: Math.round(longestCallMs) } };
    if (process.env.SOAK_REPORT !== undefined) writeFileSync(process.env.SOAK_REPORT, JSON.stringify(report));
    console.log(JSON.stringify(report));
  }
}

function isStopped(): boolean {
  return existsSync(process.env.SOAK_STOP ?? '');
}
