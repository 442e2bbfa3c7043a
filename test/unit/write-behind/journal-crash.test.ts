import fc from 'fast-check';
import { expect, test } from 'vitest';
import { acknowledgement, type NewEntry, type PendingEntry } from '#sidecar/write-behind/journal/entries.ts';
import type { Journal, OpenedJournal } from '#sidecar/write-behind/journal/journal.ts';
import type { DiskFault } from '#support/simulated-disk.ts';
import { entryOf, JournalWorld, quiet } from './journal-world.ts';

const RUNS = Number(process.env.JOURNAL_RUNS ?? 200);

/** How an append ended, as its caller knows it. `silent`: the process died before there was an answer. */
type Outcome = 'waiting' | 'acknowledged' | 'refused' | 'unknown' | 'silent';

interface Appended {
  readonly entry: NewEntry;
  outcome: Outcome;
  place: PendingEntry | null;
  isSettled: boolean;
  /** Gone at a start: it must never come back. */
  isGone: boolean;
}

type Step =
  | { do: 'append'; sizes: number[]; namespace: string }
  | { do: 'settle'; share: number }
  | { do: 'fault'; kind: string; after: number; fault: DiskFault }
  | { do: 'wait' }
  | { do: 'pass'; ms: number }
  | { do: 'crash'; hasPower: boolean; ticks: number; seed: number }
  | { do: 'stop' };

const fault = fc.oneof(
  fc.constantFrom<DiskFault>({ error: 'EIO' }, { error: 'ENOSPC' }),
  fc.integer({ min: 0, max: 700 }).map((short) => ({ short })),
);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      sizes: fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 1, maxLength: 6 }),
      namespace: fc.constantFrom('stats', 'logs'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('settle' as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('fault' as const),
      kind: fc.constantFrom('write', 'flush', 'open', 'rename', 'remove', 'flushFolder'),
      after: fc.integer({ min: 0, max: 4 }),
      fault,
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(150, 10_000) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('crash' as const),
      hasPower: fc.boolean(),
      ticks: fc.integer({ min: 0, max: 40 }),
      seed: fc.integer({ min: 1, max: 2 ** 30 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stop' as const) }) },
);

/** Drives a journal through a program, and knows what it may and may not show afterwards. */
class Story {
  readonly world = new JournalWorld({ segmentBytes: 32_768 });
  readonly #all: Appended[] = [];
  #journal: Journal | null = null;
  #fault: { kind: string; after: number; fault: DiskFault } | null = null;

  constructor() {
    this.world.fault = (call) => {
      if (this.#fault === null || this.#fault.kind !== call.kind) return null;
      this.#fault.after -= 1;
      if (this.#fault.after >= 0) return null;
      const { fault } = this.#fault;
      this.#fault = null;
      return 'short' in fault && call.kind !== 'write' ? { error: 'EIO' } : fault;
    };
  }

  async begin(): Promise<void> {
    this.#fault = null;
    const opened = await this.world.open();
    this.#journal = opened.journal;
    await this.#judge(opened);
  }

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case 'append':
        return this.#append(step.sizes, step.namespace);
      case 'settle':
        return this.#settle(step.share);
      case 'fault':
        this.#fault = { ...step };
        return;
      case 'wait':
        return quiet();
      case 'pass':
        return this.world.clock.advance(step.ms);
      case 'crash':
        for (let tick = 0; tick < step.ticks; tick += 1) await null;
        if (step.hasPower) this.world.disk.kill();
        else this.world.disk.powerCut(randomOf(step.seed));
        for (const one of this.#all) if (one.outcome === 'waiting') one.outcome = 'silent';
        return this.begin();
      case 'stop':
        await this.#journal?.close();
        await quiet();
        return this.begin();
      default:
        step satisfies never;
    }
  }

  #append(sizes: readonly number[], namespace: string): void {
    for (const size of sizes) {
      const number = this.#all.length;
      const key = number % 2 === 0 ? this.world.keyOf(`key-${number}`) : null;
      const entry = entryOf(`${number}:${'ö'.repeat(size)}`, { namespace, key, pending: number });
      const one: Appended = { entry, outcome: 'waiting', place: null, isSettled: false, isGone: false };
      this.#all.push(one);
      (this.#journal as Journal).append(entry).then(
        (place) => this.#acknowledge(one, place),
        (error: Error) => {
          if (one.outcome === 'waiting') one.outcome = error.message.includes('unknown') ? 'unknown' : 'refused';
        },
      );
    }
  }

  #acknowledge(one: Appended, place: PendingEntry): void {
    if (one.outcome !== 'waiting') return;
    one.outcome = 'acknowledged';
    one.place = place;
  }

  /** A beginning of what waits, in every namespace alike. */
  #settle(share: number): void {
    for (const namespace of ['stats', 'logs']) {
      const waiting = this.#all.filter(
        (one) => one.place !== null && !one.isSettled && one.entry.namespace === namespace,
      );
      const settled = waiting.slice(0, Math.ceil(waiting.length * share));
      for (const one of settled) one.isSettled = true;
      if (settled.length > 0) (this.#journal as Journal).settle(settled.map((one) => one.place as PendingEntry));
    }
  }

  async #judge(opened: OpenedJournal): Promise<void> {
    const { journal, pending, findings } = opened;
    expect(findings.filter((finding) => finding.kind === 'lost')).toEqual([]);
    const read = await journal.read(pending);
    const positions = pending.map((entry) => entry.position);
    expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b));
    const found = new Map(read.map((entry, index) => [Number.parseInt(entry.payload, 10), { entry, index }]));
    expect(found.size).toBe(read.length);
    expect([...found.keys()]).toEqual([...found.keys()].sort((a, b) => a - b));
    for (const [number, one] of this.#all.entries()) {
      const there = found.get(number);
      if (there === undefined) {
        const mayBeGone = one.outcome !== 'acknowledged' || one.isSettled;
        expect(mayBeGone, `entry ${number} was acknowledged and is gone`).toBe(true);
        one.isGone = true;
        continue;
      }
      expect(one.outcome, `entry ${number} was refused and is there`).not.toBe('refused');
      expect(one.isGone && !one.isSettled, `entry ${number} has come back`).toBe(false);
      expect(there.entry).toEqual({
        ...one.entry,
        position: there.entry.position,
        id: journal.idOf(there.entry.position),
      });
      if (one.place !== null) expect(there.entry.position).toBe(one.place.position);
      one.place = pending[there.index] as PendingEntry;
      // From the moment the journal takes writes again, it answers for what it has shown.
      if (journal.stats().isAvailable) one.outcome = 'acknowledged';
      this.#judgeKey(journal, one);
    }
  }

  #judgeKey(journal: Journal, { entry, place }: Appended): void {
    if (entry.key === null || entry.key.expiresAt <= this.world.clock.now()) return;
    const answer = acknowledgement(journal.idOf((place as PendingEntry).position), entry.pending);
    const slot = { ...entry.key, kid: entry.kid, namespace: entry.namespace };
    expect(journal.recall(slot)).toEqual({ isSame: true, answer });
    expect(journal.recall({ ...slot, fingerprint: 'another' })?.isSame).toBe(false);
  }
}

function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

test('whatever fails and dies, an acknowledged write is there, a refused one is not, and none changes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
      const story = new Story();
      await story.begin();
      for (const one of steps) await story.take(one);
      await quiet();
      await story.take({ do: 'crash', hasPower: false, ticks: 0, seed: 7 });
    }),
    { numRuns: RUNS },
  );
}, 120_000);
