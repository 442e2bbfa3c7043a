import { describe, expect, it } from 'vitest';
import type { EngineName } from '#scripts/servers/start-servers.ts';
import { casesInOrder } from '#support/cases-in-order.ts';
import type { Answer } from '../support/signed-client.ts';
import {
  declareTables,
  endsInTime,
  type FaultWorld,
  insertThing,
  isReady,
  logText,
  openWorld,
  recovers,
  until,
} from './faults-world.ts';

/** Faults of every server engine: gone, restarted, killed, hanging. */
export function describeServerFaults(engine: EngineName): void {
  describe('a server that is away when the sidecar starts', () => {
    it('is no reason to end: it is told, and it works as soon as the server is there', async () => {
      const world = await openWorld(engine, { isAway: true });
      try {
        expect(await isReady(world)).toBe(false);
        const health = await world.sidecar.client.call('health');
        expect(health.result).toMatchObject({ status: 'degraded', provider: engine, database: false });
        expect((await endsInTime(() => world.call('count', { table: 'things' }))).code).toBe('database_error');
        expect(logText(world)).toMatch(/"level":"(warn|error)"/);
        await world.server.start();
        await until('ready', () => isReady(world));
        await declareTables(world);
        await recovers(world);
      } finally {
        await world.stop();
      }
    }, 90_000);
  });

  describe('a server that fails while the sidecar runs', { timeout: 120_000 }, () => {
    const { afterAll, beforeAll, it } = casesInOrder();
    let world: FaultWorld;
    beforeAll(async () => {
      world = await openWorld(engine);
    });
    afterAll(() => world.stop());

    it('stopped: calls end with database_error, /readyz tells it, and all comes back', async () => {
      await insertThing(world);
      await world.server.stop();
      await becomesUnready(world);
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) => endsInTime(() => (i % 2 === 0 ? insertThing(world) : count(world)))),
      );
      expect(new Set(answers.map((answer) => answer.code))).toEqual(new Set(['database_error']));
      // Whenever they come: the sidecar looks at the server by itself, too.
      for (let n = 0; n < 6; n += 1) expect((await endsInTime(() => count(world))).code).toBe('database_error');
      await world.server.start();
      await recovers(world);
    });

    it('restarted between two calls: nobody notices', async () => {
      await world.server.restart();
      expect((await endsInTime(() => count(world))).ok).toBe(true);
      await world.server.restart();
      expect((await endsInTime(() => insertThing(world))).ok).toBe(true);
    });

    it('hanging: calls end in time, as many as there are; then it goes on', async () => {
      await world.server.pause();
      try {
        await becomesUnready(world);
        const answers = await Promise.all(
          Array.from({ length: 40 }, (_, i) => endsInTime(() => (i % 2 === 0 ? insertThing(world) : count(world)))),
        );
        expect(answers.filter((answer) => answer.ok)).toEqual([]);
      } finally {
        await world.server.resume();
      }
      await recovers(world);
    });

    it('killed twice under writes: no key writes twice, and what was acknowledged is there', async () => {
      const acknowledged: string[] = [];
      let isOver = false;
      const writers = Promise.all(
        Array.from({ length: 8 }, async (_, writer) => {
          for (let n = 0; !isOver; n += 1) acknowledged.push(await insertUntilDone(world, `${writer}-${n}`));
        }),
      );
      for (let kill = 0; kill < 2; kill += 1) {
        const seen = acknowledged.length;
        await until('writes', async () => acknowledged.length > seen + 30);
        await world.server.kill();
        await world.server.start();
      }
      await recovers(world);
      isOver = true;
      await writers;
      expect((await tags(world)).toSorted()).toEqual(acknowledged.toSorted());
    });

    it('transfers in a circle by 32 clients while it is restarted twice: every balance exact', async () => {
      const accounts = Array.from({ length: ACCOUNTS }, (_, i) => `account-${i}`);
      await world.sidecar.client.must('insert', {
        namespace: 'game',
        table: 'things',
        rows: accounts.map((tag) => ({ n: START, tag })),
      });
      let transfers = 0;
      const clients = Promise.all(
        Array.from({ length: 32 }, async (_, client) => {
          for (let round = 0; round < ROUNDS; round += 1) {
            const key = `transfer-${client}-${round}`;
            const amount = 1 + client + round;
            await addUntilDone(world, `${accounts[client % ACCOUNTS]}`, -amount, `${key}-out`);
            await addUntilDone(world, `${accounts[(client + 1) % ACCOUNTS]}`, amount, `${key}-in`);
            transfers += 1;
          }
        }),
      );
      for (const share of [0.25, 0.6]) {
        await until('transfers', async () => transfers > share * 32 * ROUNDS, 60_000);
        await world.server.restart();
      }
      await clients;
      expect(await balances(world)).toEqual(expectedBalances());
    });
  });
}

/** 2 s are promised; the rest is for a machine that is busy with other tests. */
const READYZ_TELLS_MS = 3500;
const ACCOUNTS = 10;
const START = 1_000_000;
const ROUNDS = 8;

function expectedBalances(): Record<string, number> {
  const balance = Array<number>(ACCOUNTS).fill(START);
  for (let client = 0; client < 32; client += 1) {
    for (let round = 0; round < ROUNDS; round += 1) {
      balance[client % ACCOUNTS] = Number(balance[client % ACCOUNTS]) - (1 + client + round);
      balance[(client + 1) % ACCOUNTS] = Number(balance[(client + 1) % ACCOUNTS]) + (1 + client + round);
    }
  }
  return Object.fromEntries(balance.map((money, i) => [`account-${i}`, money]));
}

async function balances(world: FaultWorld): Promise<Record<string, number>> {
  const filter = { field: 'tag', op: 'startsWith', value: 'account-' };
  const { rows } = await world.sidecar.client.must<{ rows: { tag: string; n: number }[] }>('find', {
    namespace: 'game',
    table: 'things',
    filter,
  });
  return Object.fromEntries(rows.map((row) => [row.tag, row.n]));
}

async function addUntilDone(world: FaultWorld, tag: string, amount: number, key: string): Promise<void> {
  const filter = { field: 'tag', op: 'eq', value: tag };
  const add = () => world.call('update', { table: 'things', filter, inc: { n: amount }, idempotencyKey: key });
  await until(`add ${key}`, async () => (await endsInTime(add)).ok);
}

/** A verdict is shared by all who ask within half a second. */
async function becomesUnready(world: FaultWorld): Promise<void> {
  await until('not ready', async () => !(await isReady(world)), READYZ_TELLS_MS);
}

function count(world: FaultWorld): Promise<Answer> {
  return world.call('count', { table: 'things' });
}

/** Inserts with one key, repeated as a connector does, until it is acknowledged. */
async function insertUntilDone(world: FaultWorld, tag: string): Promise<string> {
  const insert = () => world.call('insert', { table: 'things', rows: [{ n: 0, tag }], idempotencyKey: tag });
  await until(`insert ${tag}`, async () => (await endsInTime(insert)).ok);
  return tag;
}

/** Tags of every tagged row, in pages by id. */
async function tags(world: FaultWorld): Promise<unknown[]> {
  const found: unknown[] = [];
  for (let last = 0; ; ) {
    const filter = {
      and: [
        { field: 'id', op: 'gt', value: last },
        { field: 'tag', op: 'isNull', value: false },
      ],
    };
    const page = await world.sidecar.client.must<{ rows: { id: number; tag: string }[]; hasMore: boolean }>('find', {
      namespace: 'game',
      table: 'things',
      filter,
      fields: ['id', 'tag'],
    });
    found.push(...page.rows.map((row) => row.tag));
    last = page.rows.at(-1)?.id ?? last;
    if (!page.hasMore) return found;
  }
}
