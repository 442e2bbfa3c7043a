import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ResultTable } from '#connector/calls/result-table.ts';
import { SYSTEM_TIMERS } from '#connector/client/timers.ts';
import type { Ticket } from '#support/connector-rig.ts';
import { configuration, Stage } from './scripted.ts';

let stage: Stage;

beforeEach(() => {
  vi.useFakeTimers();
  stage = new Stage();
});

afterEach(async () => {
  await stage.connector.stop();
  vi.useRealTimers();
});

async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

describe('waiting', () => {
  it('has 512 places, those in flight not counted', async () => {
    const tickets = Array.from({ length: 16 + 512 }, () => stage.call());
    expect(tickets.every((ticket) => ticket.Accepted)).toBe(true);
    expect([stage.connector.inFlight, stage.connector.waiting]).toEqual([16, 512]);
    expect(stage.call()).toEqual({ Id: '', Accepted: false, Error: 'busy: 512 calls wait already' });
    stage.flights[0]?.succeed();
    await settle();
    expect(stage.call().Accepted).toBe(true);
    expect(stage.call().Error).toMatch(/^busy/);
  });

  it('is served in order', async () => {
    stage = new Stage({ maxConcurrent: 1 });
    const names = ['a', 'b', 'c'];
    for (const name of names) {
      stage.call('count', { namespace: 'game', table: name });
    }
    for (const [index] of names.entries()) {
      expect(stage.flights.length).toBe(index + 1);
      stage.flights[index]?.succeed();
      await settle();
    }
    const sent = stage.flights.map(({ request }) => JSON.parse(request.envelope.payload).table);
    expect(sent).toEqual(names);
  });

  it('does not take the place of a call between its attempts', async () => {
    stage = new Stage({ maxConcurrent: 1 });
    const first = stage.call();
    const second = stage.call();
    stage.flights[0]?.fail();
    await vi.advanceTimersByTimeAsync(299);
    expect([stage.connector.inFlight, stage.connector.waiting, stage.flights.length]).toEqual([1, 1, 1]);
    await vi.advanceTimersByTimeAsync(1);
    expect(stage.flights.length).toBe(2);
    stage.flights[1]?.succeed();
    await settle();
    expect([stage.take(first).State, stage.take(second).State]).toEqual(['ok', 'pending']);
    expect(stage.flights.length).toBe(3);
  });

  it('follows a new maxConcurrent', async () => {
    await stage.connector.configure(configuration({ maxConcurrent: 2 }));
    for (let call = 0; call < 5; call += 1) {
      stage.call();
    }
    expect([stage.connector.inFlight, stage.connector.waiting]).toEqual([2, 3]);
    await stage.connector.configure(configuration({ maxConcurrent: 4 }));
    expect([stage.connector.inFlight, stage.connector.waiting]).toEqual([4, 1]);
    expect(stage.transports.map((transport) => transport.flights.length)).toEqual([0, 2, 2]);
  });
});

describe('retries', () => {
  it('come 300 and 600 ms after an attempt has ended', async () => {
    stage.call();
    for (const [index, pause] of [300, 600].entries()) {
      stage.flights[index]?.fail();
      await vi.advanceTimersByTimeAsync(pause - 1);
      expect(stage.flights.length).toBe(index + 1);
      await vi.advanceTimersByTimeAsync(1);
      expect(stage.flights.length).toBe(index + 2);
    }
    stage.flights[2]?.fail();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(stage.flights.length).toBe(3);
  });

  it('of a retired configuration still use its connection, which closes after the last', async () => {
    const ticket = stage.call();
    stage.flights[0]?.fail();
    await settle();
    const [old] = stage.transports;
    await stage.connector.configure(configuration());
    await vi.advanceTimersByTimeAsync(300);
    expect(old?.flights.length).toBe(2);
    expect(old?.destroyed).toBe(false);
    old?.flights[1]?.succeed();
    await settle();
    expect(stage.take(ticket).State).toBe('ok');
    expect(old?.destroyed).toBe(true);
  });

  it('that an old circuit breaker ends leave the new one and its queue alone', async () => {
    stage = new Stage({ maxConcurrent: 5 });
    const old = Array.from({ length: 5 }, () => stage.write());
    const flights = [...stage.flights];
    await stage.connector.configure(configuration({ maxConcurrent: 5 }));
    const waiting = stage.call();
    for (const flight of flights) {
      flight.fail();
    }
    await settle();
    expect(old.map((ticket) => stage.take(ticket).Code)).toEqual(Array(5).fill('network'));
    expect(stage.take(waiting).State).toBe('pending');
    expect(stage.connector.client?.breaker.state).toBe('closed');
  });
});

describe('a fault of the connector itself', () => {
  it('is internal, with the details on the console alone', async () => {
    const [transport] = stage.transports;
    if (transport !== undefined) {
      transport.send = () => {
        throw new Error('out of sockets');
      };
    }
    const ticket = stage.call();
    await settle();
    const result = stage.take(ticket);
    expect(result).toMatchObject({ State: 'error', Status: 0, Code: 'internal' });
    expect(result.Json).not.toContain('sockets');
    expect(stage.lines).toEqual([expect.stringMatching(/^internal: Error: out of sockets/)]);
    expect(stage.connector.inFlight).toBe(0);
  });
});

describe('long operations', () => {
  it('have 120 s, or the configured time where that is longer', () => {
    stage.call('schema.sync', { namespace: 'game' });
    stage.call('flush');
    stage.call('count');
    expect(stage.flights.map(({ request }) => request.timeoutMs)).toEqual([120_000, 120_000, 5000]);
  });
});

describe('a result', () => {
  it('is pending, then handed out once', async () => {
    const ticket = stage.call();
    expect(ticket).toEqual({ Id: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/), Accepted: true, Error: '' });
    const empty = { Id: ticket.Id, Status: 0, Code: '', Json: '' };
    expect(stage.take(ticket)).toEqual({ ...empty, State: 'pending' });
    stage.flights[0]?.succeed();
    await settle();
    expect(stage.take(ticket)).toEqual({ ...empty, State: 'ok', Status: 200, Json: '{"count":1}' });
    expect(stage.take(ticket)).toEqual({ ...empty, State: 'missing' });
  });

  it('is for the caller alone, and asking as another does not remove it', async () => {
    const ticket = stage.call('count', undefined, 'shop');
    expect(stage.take(ticket, 'thief').State).toBe('missing');
    stage.flights[0]?.succeed();
    await settle();
    expect(stage.take(ticket, 'thief').State).toBe('missing');
    expect(stage.take(ticket, 'shop').State).toBe('ok');
  });

  it('lives two minutes and four timeouts, counted from its readiness', async () => {
    await stage.connector.configure(configuration({ timeoutMs: 5001 }));
    const [early, late] = [stage.call(), stage.call()];
    await vi.advanceTimersByTimeAsync(300_000);
    stage.flights[0]?.succeed();
    stage.flights[1]?.succeed();
    await vi.advanceTimersByTimeAsync(140_003);
    expect(stage.take(early).State).toBe('ok');
    await vi.advanceTimersByTimeAsync(1);
    expect(stage.take(late).State).toBe('missing');
  });

  it('that nobody collects does not stay in memory', async () => {
    for (let call = 0; call < 16; call += 1) {
      stage.call();
    }
    for (const flight of stage.flights) {
      flight.succeed();
    }
    await settle();
    const before = vi.getTimerCount();
    await vi.advanceTimersByTimeAsync(150_000);
    // Nothing is left to sweep, so the sweep has stopped by itself.
    expect(vi.getTimerCount()).toBe(before - 1);
  });

  it('of an unknown or empty id is missing', () => {
    expect(stage.take({ Id: 'nobody', Accepted: true, Error: '' }).State).toBe('missing');
    expect(stage.take({ Id: '', Accepted: false, Error: '' }).State).toBe('missing');
  });
});

describe('a slow call', () => {
  it('is one line in ten seconds, and the next says how many were left out', async () => {
    for (let call = 0; call < 3; call += 1) {
      stage.call();
    }
    await vi.advanceTimersByTimeAsync(201);
    for (const flight of stage.flights) {
      flight.succeed();
    }
    await vi.advanceTimersByTimeAsync(10_000);
    stage.call('find', { namespace: 'game', table: 't' });
    await vi.advanceTimersByTimeAsync(500);
    stage.flights.at(-1)?.succeed();
    await settle();
    expect(stage.lines).toEqual([
      'slow call: count game.t took 201 ms: network and sidecar 201 ms',
      'slow call: find game.t took 500 ms: network and sidecar 500 ms (and 2 more since the last such line)',
    ]);
  });
});

describe('the clock', () => {
  it('is asked at start and every ten minutes', async () => {
    await vi.advanceTimersByTimeAsync(1_800_000);
    expect(stage.transports[0]).toMatchObject({ readings: 4 });
  });
});

describe('results that nobody collects', () => {
  const callAndSucceed = async (caller: string): Promise<Ticket> => {
    const ticket = stage.call('count', { namespace: 'game', table: 't' }, caller);
    stage.flights.at(-1)?.succeed();
    await settle();
    return ticket;
  };

  it('are at most 10,000 a caller, who then gets busy alone until it collects', async () => {
    const first = await callAndSucceed('shop');
    for (let count = 1; count < 10_000; count += 1) await callAndSucceed('shop');
    const refused = await callAndSucceed('shop');
    expect(refused.Error).toBe('busy: 10000 results wait for this bundle: collect them with TakeResult');
    expect(stage.take(await callAndSucceed('garage'), 'garage').State).toBe('ok');
    expect(stage.take(first, 'shop').State).toBe('ok');
    expect((await callAndSucceed('shop')).Accepted).toBe(true);
  });

  describe('and are long', () => {
    const MANY = 8_000_000;
    const answer = JSON.stringify({ rows: ['x'.repeat(MANY - '{"rows":[""]}'.length)] });
    const row = { namespace: 'game', table: 't' };
    const find = (caller: string) => stage.call('find', row, caller);
    const answerAll = async (): Promise<void> => {
      for (const flight of stage.flights) flight.succeed(undefined, answer);
      await settle();
    };

    it('hold 32 million characters a caller: then it gets busy, reads under way too, and no write is lost', async () => {
      const kept = Array.from({ length: 4 }, () => find('shop'));
      await answerAll();
      // Under way, and longer than what is left: the flood began while there was room.
      expect(find('shop').Error).toBe(
        'busy: 32,000,000 characters of results wait for this bundle: collect them with TakeResult',
      );
      const others = find('garage');
      await answerAll();
      expect(stage.take(others, 'garage').Json).toHaveLength(MANY);
      expect(stage.take(kept[0] as Ticket, 'shop').Json).toHaveLength(MANY);
      const [read, late, write, sync] = [
        find('shop'),
        find('shop'),
        stage.call('insert', { ...row, rows: [{}] }, 'shop'),
        stage.call('schema.sync', { namespace: 'game', schema: {} }, 'shop'),
      ];
      await answerAll();
      const { State, Code, Json } = stage.take(late, 'shop');
      expect([State, Code, JSON.parse(Json).error.message]).toEqual([
        'error',
        'busy',
        '32,000,000 characters of results wait for this bundle: collect them with TakeResult',
      ]);
      for (const ticket of [read, write, sync]) expect(stage.take(ticket, 'shop').Json).toHaveLength(MANY);
    });

    it('have room again when they are collected, when they expire, and when their bundle stops', async () => {
      const fill = async (): Promise<Ticket[]> => {
        const tickets = Array.from({ length: 4 }, () => find('shop'));
        await answerAll();
        expect(find('shop').Error).toMatch(/^busy: /);
        return tickets;
      };
      for (const ticket of await fill()) stage.take(ticket, 'shop');
      await fill();
      await vi.advanceTimersByTimeAsync(150_000);
      await fill();
      stage.connector.forget('shop');
      await fill();
    });
  });

  it('hold 128 million characters of all callers: beyond that, those with more than a million get busy', () => {
    const results = new ResultTable(SYSTEM_TIMERS);
    const put = (caller: string, characters: number) => {
      const id = `${caller}${results.size}`;
      results.open(id, caller);
      results.settle(id, { state: 'ok', status: 200, code: '', json: 'x'.repeat(characters) }, 120_000, true);
    };
    for (const caller of ['a', 'b', 'c', 'd', 'e', 'f']) put(caller, 21_000_000);
    put('small', 1_000_000);
    expect(results.refusalFor('a')).toBeNull();
    put('g', 2_000_000);
    expect(results.refusalFor('a')).toBe(
      '129,000,000 characters of results wait for all bundles: collect them with TakeResult',
    );
    expect([results.refusalFor('small'), results.refusalFor('new')]).toEqual([null, null]);
    put('small', 1);
    expect(results.refusalFor('small')).toMatch(/^129,000,001 characters/);
    results.forget('b');
    expect(results.refusalFor('small')).toBeNull();
    results.clear();
  });

  it('go when their bundle stops, while its calls go out', async () => {
    const [done, waits] = [
      await callAndSucceed('shop'),
      stage.call('count', { namespace: 'game', table: 't' }, 'shop'),
    ];
    const others = await callAndSucceed('garage');
    stage.connector.forget('shop');
    expect([stage.take(done, 'shop').State, stage.take(waits, 'shop').State]).toEqual(['missing', 'missing']);
    expect(stage.take(others, 'garage').State).toBe('ok');
    expect(stage.connector.inFlight).toBe(1);
  });
});
