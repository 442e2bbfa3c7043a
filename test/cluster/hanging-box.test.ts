import { Client } from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type PostgresPair, startPostgresPair } from '#support/cluster/postgres-pair.ts';
import { secretOf } from '#support/config-folder.ts';
import { type DbResult, Rig, type Ticket } from '#support/connector-rig.ts';
import { type SidecarProcess, spawnSidecar } from '#support/sidecar-process.ts';
import { testFolder } from '#support/test-folder.ts';
import { TABLES } from './acknowledged.ts';

/** Far more than a test takes: nothing here is answered because a deadline was over. */
const TIMEOUT_MS = 100_000;
const CALLERS = 6;

let pair: PostgresPair;
let boxes: SidecarProcess[];

const entry = (tag: string, key = {}) => ({ namespace: 'game', table: 'entries', rows: [{ tag }], ...key });

beforeAll(async () => {
  pair = await startPostgresPair();
  const database = { provider: 'postgres', url: pair.primary.url };
  boxes = await Promise.all([0, 1].map(() => spawnSidecar(testFolder(), { database })));
  await boxes[0]?.client.must('schema.sync', { namespace: 'game', schema: { tables: TABLES } });
}, 120_000);

afterAll(async () => {
  await Promise.all((boxes ?? []).map((box) => box.kill()));
  await pair?.stop();
});

it.each(['post', 'auto', 'stream'])(
  'a box that is stopped costs a pause, and no write, with transport %s',
  async (transport) => {
    const [near, far] = boxes as [SidecarProcess, SidecarProcess];
    const rig = new Rig(
      { url: [near.address, far.address], transport, timeoutMs: TIMEOUT_MS, maxConcurrent: CALLERS },
      undefined,
      secretOf('local'),
    );
    onTestFinished(() => rig.stop());
    await rig.command('db-reload');
    const load = new Load(rig, transport);
    const callers = Array.from({ length: CALLERS - 1 }, (_, caller) => load.call(caller));
    await expect.poll(() => load.acknowledged.length).toBeGreaterThan(50);

    near.child.kill('SIGSTOP');
    onTestFinished(() => void near.child.kill('SIGCONT'));
    const unkeyed = rig.call('insert', entry(`${transport} unkeyed`));
    const before = load.acknowledged.length;
    await expect.poll(() => load.acknowledged.length).toBeGreaterThan(before + 200);
    expect((await rig.status()).url).toBe(far.address);
    expect(rig.take(unkeyed.Id).State).toBe('pending');

    near.child.kill('SIGCONT');
    expect((await rig.result(unkeyed)).State).toBe('ok');
    load.end();
    await Promise.all(callers);
    expect(load.refused).toEqual([]);
    const tags = await storedTags(`${transport} %`);
    expect(new Set(tags).size).toBe(tags.length);
    expect(tags.sort()).toEqual([...load.acknowledged, `${transport} unkeyed`].sort());
    expect(load.longestPauseMs).toBeLessThan(TIMEOUT_MS / 3);
  },
);

/** Inserts with a key, one after another for each caller. */
class Load {
  readonly acknowledged: string[] = [];
  readonly refused: DbResult[] = [];
  longestPauseMs = 0;
  readonly #rig: Rig;
  readonly #name: string;
  #lastAt = performance.now();
  #isOver = false;

  constructor(rig: Rig, name: string) {
    this.#rig = rig;
    this.#name = name;
  }

  end(): void {
    this.#isOver = true;
  }

  async call(caller: number): Promise<void> {
    for (let round = 0; !this.#isOver; round += 1) {
      const tag = `${this.#name} ${caller}.${round}`;
      const ticket: Ticket = this.#rig.call('insert', entry(tag, { idempotencyKey: tag }));
      const result = await this.#rig.result(ticket);
      if (result.State === 'ok') this.#note(tag);
      else this.refused.push(result);
    }
  }

  #note(tag: string): void {
    const now = performance.now();
    this.longestPauseMs = Math.max(this.longestPauseMs, now - this.#lastAt);
    this.#lastAt = now;
    this.acknowledged.push(tag);
  }
}

async function storedTags(like: string): Promise<string[]> {
  const client = new Client({ connectionString: pair.primary.url });
  await client.connect();
  try {
    const { rows } = await client.query('SELECT tag FROM game__entries WHERE tag LIKE $1', [like]);
    return rows.map(({ tag }) => String(tag));
  } finally {
    await client.end();
  }
}
