import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Database, type DbResult } from '#connector/helper/helper.ts';
import { FakeServer, failed, ok } from './fake-server.ts';

const TICK_MS = 20;

function setUp() {
  const server = new FakeServer();
  return { server, db: new Database(server) };
}

async function ticks(count: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(count * TICK_MS);
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('a callback', () => {
  it('is called once, on a later tick, with the answer under its ticket', async () => {
    const { server, db } = setUp();
    server.reply = () => ok({ count: 7 });
    const results: DbResult[] = [];
    const ticket = db.Count('game', 'cars', (result) => results.push(result));
    expect(ticket).toEqual({ Id: 'ticket-0', Accepted: true, Error: '' });
    expect(results).toEqual([]);
    await ticks(5);
    expect(results).toEqual([{ Id: 'ticket-0', ...ok({ count: 7 }) }]);
  });

  it('is called once with the error of a refused call, on a later tick', async () => {
    const { server, db } = setUp();
    server.refusal = 'unavailable: the circuit is open';
    const results: DbResult[] = [];
    const ticket = db.Health((result) => results.push(result));
    expect(ticket).toEqual({ Id: '', Accepted: false, Error: 'unavailable: the circuit is open' });
    expect(results).toEqual([]);
    await ticks(3);
    expect(results).toHaveLength(1);
    expect(results[0]).toMatchObject({ Id: '', State: 'error', Status: 0, Code: 'unavailable' });
    expect(db.ErrorMessage(results[0] as DbResult)).toBe('unavailable: the circuit is open');
  });

  it('that calls again after each refusal does not hold the game up', async () => {
    const { server, db } = setUp();
    server.refusal = 'unavailable: away';
    let refusals = 0;
    const again = (): void => {
      refusals += 1;
      db.Health(again);
    };
    db.Health(again);
    await ticks(10);
    expect(refusals).toBeLessThanOrEqual(10);
    expect(refusals).toBeGreaterThanOrEqual(8);
  });

  it('gets bundle_unavailable where the connector is not running', async () => {
    const { server, db } = setUp();
    server.isRunning = false;
    const asked = db.async.Find('game', 'cars');
    await ticks(1);
    expect(await asked).toMatchObject({ State: 'error', Status: 0, Code: 'bundle_unavailable' });
  });

  it('gets bundle_unavailable once where the connector stops while the call is on its way', async () => {
    const { server, db } = setUp();
    const codes: string[] = [];
    db.Find('game', 'cars', (result) => codes.push(result.Code));
    db.Find('game', 'cars', (result) => codes.push(result.Code));
    await ticks(2);
    server.isRunning = false;
    server.tell('db_connector', 'stopped');
    expect(codes).toEqual([]);
    await ticks(1);
    expect(codes).toEqual(['bundle_unavailable', 'bundle_unavailable']);
    server.tell('db_connector', 'stopped');
    await ticks(10);
    expect(codes).toHaveLength(2);
  });

  it('gets bundle_unavailable where the connector stops and nobody says so', async () => {
    const { server, db } = setUp();
    const asked = db.async.Find('game', 'cars');
    server.isRunning = false;
    await ticks(1);
    expect(await asked).toMatchObject({ Code: 'bundle_unavailable' });
  });

  it('gets bundle_unavailable where the connector was restarted and knows the call no more', async () => {
    const { server, db } = setUp();
    const asked = db.async.Find('game', 'cars');
    server.forgetAll();
    await ticks(1);
    const result = await asked;
    expect(result.Code).toBe('bundle_unavailable');
    expect(db.ErrorMessage(result)).toContain('outcome');
  });

  it('hears on the next tick that the connector has stopped, however long it has waited', async () => {
    const { server, db } = setUp();
    const codes: string[] = [];
    db.Sync('game', { tables: [] }, (result) => codes.push(result.Code));
    await ticks(500);
    server.isRunning = false;
    server.tell('db_connector', 'stopped');
    await ticks(1);
    expect(codes).toEqual(['bundle_unavailable']);
  });

  it('is not disturbed by other bundles that stop', async () => {
    const { server, db } = setUp();
    const asked = db.async.Count('game', 'cars');
    server.tell('weather', 'stopped');
    await ticks(1);
    server.answer(0, ok({ count: 1 }));
    await ticks(3);
    expect(db.Number(await asked)).toBe(1);
  });

  it('that throws, or rejects, disturbs no other, and a line names the bundle and the call', async () => {
    const { server, db } = setUp();
    server.reply = () => ok({});
    const seen: number[] = [];
    db.Find('game', 'cars', () => {
      throw new Error('a typing error');
    });
    db.Find('game', 'cars', async () => {
      throw new Error('another one');
    });
    db.Count('game', 'cars', () => seen.push(3));
    await ticks(2);
    expect(seen).toEqual([3]);
    expect(server.lines).toHaveLength(2);
    expect(server.lines[0]).toMatch(/garage.*Find game\.cars.*a typing error/s);
    expect(server.lines[1]).toMatch(/garage.*Find game\.cars.*another one/s);
    await ticks(5);
    expect(server.lines).toHaveLength(2);
  });

  it('that throws again and again is told once in ten seconds, with how often', async () => {
    const { server, db } = setUp();
    server.reply = () => ok({ count: 1 });
    const slip = new Error('a slip');
    const callOften = async () => {
      for (let count = 0; count < 30; count += 1) {
        db.Count('game', 'cars', () => {
          throw slip;
        });
      }
      await ticks(10);
    };
    await callOften();
    expect(server.lines).toHaveLength(1);
    await ticks(600);
    await callOften();
    expect(server.lines).toHaveLength(2);
    expect(server.lines[1]).toContain('29 times before');
  });

  it('is missed in one line where a call without it fails, not in hundreds', async () => {
    const { server, db } = setUp();
    server.reply = () => failed('constraint_violation', 409);
    for (let i = 0; i < 100; i++) db.Insert('game', 'cars', { plate: 'A' });
    await ticks(5);
    expect(server.lines).toHaveLength(1);
    expect(server.lines[0]).toMatch(/garage.*Insert game\.cars.*constraint_violation/);
    await ticks(600);
    db.Insert('game', 'cars', { plate: 'A' });
    await ticks(5);
    expect(server.lines).toHaveLength(2);
    expect(server.lines[1]).toContain('99 times');
  });

  it('gets arguments that cannot be written as an error, and nothing throws', async () => {
    const { server, db } = setUp();
    const asked = db.async.Update('game', 'cars', {
      filter: { field: 'id', op: 'eq', value: 1 },
      set: { fuel: Number.NaN },
    });
    await ticks(1);
    const result = await asked;
    expect(result).toMatchObject({ State: 'error', Status: 0, Code: 'invalid_request' });
    expect(db.ErrorMessage(result)).toContain('set.fuel');
    expect(server.calls).toEqual([]);
  });
});

describe('calls for which there is no place', () => {
  it('wait, and go out in their order as places come free: 600 at once lose nothing', async () => {
    const { server, db } = setUp();
    server.places = 16;
    const delivered: number[] = [];
    for (let i = 0; i < 600; i++) {
      expect(db.Upsert('game', 'cars', { id: i }, ['id'], () => delivered.push(i)).Accepted).toBe(true);
    }
    expect(server.calls).toHaveLength(16);
    for (let round = 0; delivered.length < 600 && round < 600; round++) {
      server.answerAll(ok({ affected: 1 }));
      await ticks(1);
    }
    expect(delivered).toEqual([...Array(600).keys()]);
    expect(server.calls.map(({ payload }) => (payload.row as { id: number }).id)).toEqual(delivered);
    await ticks(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('are asked for less and less often while nothing of the bundle comes back', async () => {
    const { server, db } = setUp();
    server.refusal = 'busy: others hold all places';
    db.Health(() => {});
    await ticks(500);
    expect(server.refused).toBeLessThan(70);
    server.refusal = '';
    server.reply = () => ok({ status: 'ok' });
    await ticks(12);
    expect(server.calls).toHaveLength(1);
  });

  it('are ten thousand at most; what comes then is busy', async () => {
    const { server, db } = setUp();
    server.refusal = 'busy: full';
    for (let i = 0; i < 10_000; i++) db.Health(() => {});
    const codes: string[] = [];
    expect(db.Health((result) => codes.push(result.Code))).toMatchObject({ Accepted: false, Id: '' });
    await ticks(2);
    expect(codes).toEqual(['busy']);
  });

  it('get bundle_unavailable where the connector goes away', async () => {
    const { server, db } = setUp();
    server.refusal = 'busy: full';
    const codes: string[] = [];
    for (let i = 0; i < 3; i++) db.Health((result) => codes.push(result.Code));
    await ticks(20);
    server.isRunning = false;
    server.tell('db_connector', 'stopped');
    await ticks(2);
    expect(codes).toEqual(Array(3).fill('bundle_unavailable'));
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('the calls of a turn', () => {
  it('go out in their order, the first at once, the others together, and their results are taken together', async () => {
    const { server, db } = setUp();
    server.reply = ({ payload }) => ok({ count: Number(payload.table === 'c9') });
    const seen: string[] = [];
    for (let i = 0; i < 10; i++) db.Count('game', `c${i}`, () => seen.push(`c${i}`));
    expect(server.lists).toEqual([1]);
    await ticks(0);
    expect(server.lists).toEqual([1, 9]);
    await ticks(1);
    expect(server.exportsCalled).toEqual(['CallMany', 'CallMany', 'TakeMany']);
    expect(seen).toEqual(server.calls.map(({ payload }) => payload.table));
    expect(seen).toHaveLength(10);
  });

  it('go out with a look at a ticket, which says what became of its call', () => {
    const { server, db } = setUp();
    server.places = 2;
    const tickets = Array.from({ length: 4 }, () => db.Health(() => {}));
    expect(server.calls).toHaveLength(1);
    expect(tickets.map(({ Id, Accepted }) => [Id, Accepted])).toEqual([
      ['ticket-0', true],
      ['ticket-1', true],
      ['', true],
      ['', true],
    ]);
    expect(JSON.parse(JSON.stringify(tickets[1]))).toEqual({ Id: 'ticket-1', Accepted: true, Error: '' });
  });

  it('do not share an error: only what is refused is refused', async () => {
    const { server, db } = setUp();
    server.reply = ({ operation }) => ok({ count: operation.length });
    server.refuses = ({ Operation }) => (Operation === 'flush' ? 'namespace_not_allowed: game' : '');
    const asked = [db.async.Health(), db.async.Count('game', 'a'), db.async.Flush('game'), db.async.Count('game', 'b')];
    await ticks(2);
    const results = await Promise.all(asked);
    expect(results.map(({ Code }) => Code)).toEqual(['', '', 'namespace_not_allowed', '']);
  });

  it('are at most 512 in a list, and 256,000 characters, or one call that is longer', async () => {
    const { server, db } = setUp();
    server.reply = () => ok({});
    let answers = 0;
    for (let i = 0; i < 1100; i++) db.Health(() => (answers += 1));
    const long = { text: 'x'.repeat(300_000) };
    for (let i = 0; i < 3; i++) db.Insert('game', 'cars', long, () => (answers += 1));
    await ticks(0);
    expect(server.lists).toEqual([1, 512, 512, 75, 1, 1, 1]);
    await ticks(10);
    expect(answers).toBe(1103);
  });

  it('are made by promises too, without waiting for a tick', async () => {
    const { server, db } = setUp();
    server.reply = () => ok({ count: 1 });
    const followUps = Array.from({ length: 10 }, async (_, i) => {
      await db.async.Count('game', `a${i}`);
      return db.async.Count('game', `b${i}`);
    });
    await ticks(1);
    expect(server.calls).toHaveLength(20);
    expect(server.lists).toEqual([1, 9, 10, 1, 9]);
    await ticks(1);
    expect(await Promise.all(followUps)).toHaveLength(10);
  });
});

describe('a connector without lists', () => {
  it('is served record by record, until its next start', async () => {
    const { server, db } = setUp();
    server.hasLists = false;
    server.reply = () => ok({ count: 1 });
    const ask = async () => {
      const asked = Array.from({ length: 5 }, () => db.async.Count('game', 'cars'));
      await ticks(2);
      return (await Promise.all(asked)).map((result) => db.Number(result));
    };
    expect(await ask()).toEqual([1, 1, 1, 1, 1]);
    expect(new Set(server.exportsCalled)).toEqual(new Set(['Call', 'TakeResult']));
    server.hasLists = true;
    server.tell('db_connector', 'started');
    expect(await ask()).toEqual([1, 1, 1, 1, 1]);
    expect(new Set(server.exportsCalled)).toContain('TakeMany');
  });
});

describe('polling', () => {
  it('happens once a tick for what is pending, and not at all while nothing is', async () => {
    const { server, db } = setUp();
    await ticks(50);
    expect(server.polls).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
    db.Find('game', 'cars', () => {});
    db.Find('game', 'cars', () => {});
    await ticks(1);
    expect(server.polls).toBe(2);
    await ticks(3);
    expect(server.polls).toBe(8);
    server.answer(0, ok({}));
    server.answer(1, ok({}));
    await ticks(1);
    expect(server.polls).toBe(10);
    await ticks(50);
    expect(server.polls).toBe(10);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('happens in the turn of a script that calls in each tick, once the caller has gone on', async () => {
    const { server, db } = setUp();
    server.reply = () => ok({});
    const seen: string[] = [];
    db.Health(() => seen.push('first'));
    await vi.advanceTimersByTimeAsync(12);
    db.Health(() => seen.push('second'));
    expect(seen).toEqual([]);
    await vi.advanceTimersByTimeAsync(0);
    expect(seen).toEqual(['first']);
    await vi.advanceTimersByTimeAsync(19);
    expect(server.polls).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(seen).toEqual(['first', 'second']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is shared by all that a bundle makes', async () => {
    const { server, db } = setUp();
    const other = new Database(server);
    db.Health(() => {});
    other.Health(() => {});
    expect(vi.getTimerCount()).toBe(1);
    await ticks(1);
    expect(server.polls).toBe(2);
  });

  it('asks less often for what has waited long, and still hears of it within a fifth of a second', async () => {
    const { server, db } = setUp();
    let isAnswered = false;
    db.Sync('game', { tables: [] }, () => {
      isAnswered = true;
    });
    await ticks(5000);
    expect(server.polls).toBeLessThan(700);
    server.answer(0, ok({}));
    await ticks(11);
    expect(isAnswered).toBe(true);
  });

  it.each(['answers', 'refusals'])('goes on with the next tick where callbacks of %s take long', async (what) => {
    const { server, db } = setUp();
    if (what === 'answers') server.reply = () => ok({});
    else server.refusal = 'unavailable: away';
    const deliveredAt: number[] = [];
    for (let i = 0; i < 3; i++) {
      db.Health(() => {
        deliveredAt.push(performance.now());
        takeMs(6);
      });
    }
    await ticks(10);
    expect(deliveredAt).toHaveLength(3);
    expect(new Set(deliveredAt).size).toBe(3);
  });
});

/** As if the callback had kept the game for so long. */
function takeMs(ms: number): void {
  const now = performance.now();
  vi.spyOn(performance, 'now').mockReturnValueOnce(now + ms);
}

describe('Ready', () => {
  it('waits through a connector that is not there and a sidecar that does not answer', async () => {
    const { server, db } = setUp();
    server.isRunning = false;
    let ready: DbResult | undefined;
    const asked = db.async.Ready().then((result) => {
      ready = result;
    });
    await ticks(100);
    server.isRunning = true;
    server.reply = () => failed('network');
    await ticks(100);
    expect(ready).toBeUndefined();
    server.reply = () => ok({ status: 'ok' });
    await ticks(200);
    await asked;
    expect(ready).toMatchObject({ State: 'ok', Status: 200 });
  });

  it('is over with any answer of the sidecar, also a refusal', async () => {
    const { server, db } = setUp();
    server.reply = () => failed('forbidden', 403);
    const asked = db.async.Ready();
    await ticks(2);
    expect(await asked).toMatchObject({ Code: 'forbidden', Status: 403 });
  });

  it('says once that it waits, when that takes long', async () => {
    const { server, db } = setUp();
    server.refusal = 'not_configured: no database.json';
    db.Ready(() => {});
    await ticks(300);
    expect(server.lines).toEqual([]);
    await ticks(3000);
    expect(server.lines).toHaveLength(1);
    expect(server.lines[0]).toContain('not_configured');
  });

  it('gives up where its bundle stops', async () => {
    const { server, db } = setUp();
    server.isRunning = false;
    const asked = db.async.Ready();
    await ticks(10);
    server.tell('garage', 'stopped');
    await ticks(200);
    expect(await asked).toMatchObject({ Code: 'bundle_unavailable' });
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a connector in another folder', () => {
  it('is called by its name', async () => {
    const { server, db } = setUp();
    server.connector = 'my_connector';
    server.reply = () => ok({ status: 'ok' });
    db.connector = 'my_connector';
    const asked = db.async.Health();
    await ticks(1);
    expect(await asked).toMatchObject({ State: 'ok' });
  });
});

describe('a host that is none', () => {
  it('is refused with a hint', () => {
    expect(() => new Database({} as never)).toThrow('the host that start(host) receives');
  });
});
