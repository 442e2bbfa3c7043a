import type { WriteBehindConfig } from '#sidecar/config/write-behind.ts';
import type { WriteBuffer } from '#sidecar/write-behind/write-buffer.ts';
import { Dice } from '#support/buffered/dice.ts';
import { type BoxOptions, SimulatedBox } from './simulated-box.ts';
import { numberOf, SimulatedDatabase } from './simulated-database.ts';
import { SimulatedTime } from './simulated-time.ts';

const CONFIG: WriteBehindConfig = {
  journal: '/journal',
  flushIntervalMs: 1000,
  flushAtPending: 500,
  maxPending: 1000,
  maxJournalMegabytes: 1,
  haltAfterFailures: 3,
  drainOnStopMs: 5000,
  namespaces: new Map([['a', { consistentReads: true }]]),
};

/** A database and the sidecars that a test starts on it, in simulated time. */
export class BufferWorld {
  readonly time = new SimulatedTime();
  readonly database = new SimulatedDatabase(this.time, new Dice(1), { hasTransactions: true, forgetsPosition: false });

  box(name = 'box', intercept: BoxOptions['intercept'] = () => null): SimulatedBox {
    const { time, database } = this;
    return new SimulatedBox({ name, time, database, dice: new Dice(2), intercept });
  }

  async start(box: SimulatedBox, config: Partial<WriteBehindConfig> = {}): Promise<WriteBuffer> {
    box.start({ ...CONFIG, ...config });
    for (let ms = 0; box.buffer === null && ms < 20_000; ms += 50) await this.time.pass(50);
    if (box.buffer === null) throw new Error(`the sidecar does not start: ${box.log.join('\n')}`);
    return box.buffer;
  }

  async restart(box: SimulatedBox, config: Partial<WriteBehindConfig> = {}): Promise<WriteBuffer> {
    box.crash('kill');
    return this.start(box, config);
  }

  /** The acknowledgement, or the code of the refusal. */
  async write(buffer: WriteBuffer, n: number, namespace = 'a'): Promise<string> {
    const payload = JSON.stringify({ namespace, table: 't', rows: [{ n }] });
    const answer = outcomeOf(buffer.accept({ namespace, kid: 'k', op: 'insert', payload, slot: null }));
    await this.time.pass(5);
    return answer;
  }

  /** `done`, or the code of the refusal. */
  async drain(buffer: WriteBuffer, ms: number, namespace = 'a'): Promise<string> {
    const drained = outcomeOf(buffer.drain(namespace, this.time.nowMs + ms).then(() => 'done'));
    await this.time.pass(ms + 1);
    return drained;
  }

  get applied(): number[] {
    return this.database.applied.map(({ n }) => n);
  }

  /** Number of the write, and the code of its error. */
  get letters(): [number, string][] {
    return [...this.database.letters.values()].map(({ payload, code }) => [numberOf(payload), code]);
  }
}

function outcomeOf(answer: Promise<string>): Promise<string> {
  return answer.catch((error: { code?: string }) => error.code ?? String(error));
}
