import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Stage } from './scripted.ts';

let stage: Stage;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(async () => {
  await stage.connector.stop();
  vi.useRealTimers();
});

const COUNT = { namespace: 'game', table: 't' };

/** How many of so many calls of a caller are accepted. */
function flood(caller: string, calls: number): number {
  return Array.from({ length: calls }, () => stage.call('count', COUNT, caller)).filter(({ Accepted }) => Accepted)
    .length;
}

/** The callers' tables, in the order in which their calls went out. */
function sent(): unknown[] {
  return stage.flights.map(({ request }) => JSON.parse(request.envelope.payload).table);
}

async function succeed(index: number): Promise<void> {
  stage.flights[index]?.succeed();
  await vi.advanceTimersByTimeAsync(0);
}

describe('callers', () => {
  it('are served in turn, each in its own order', async () => {
    stage = new Stage({ maxConcurrent: 1 });
    for (const table of ['a1', 'a2', 'a3']) stage.call('count', { namespace: 'game', table }, 'a');
    for (const table of ['b1', 'b2']) stage.call('count', { namespace: 'game', table }, 'b');
    stage.call('count', { namespace: 'game', table: 'c1' }, 'c');
    for (let index = 0; index < 6; index += 1) await succeed(index);
    expect(sent()).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  });

  it('one alone has all 512 places', () => {
    stage = new Stage({ maxConcurrent: 1 });
    expect(flood('a', 600)).toBe(1 + 512);
  });

  it('one that floods gets busy alone while others call', async () => {
    stage = new Stage({ maxConcurrent: 1 });
    stage.call('count', COUNT, 'b');
    expect(flood('a', 600)).toBe(448);
    expect(stage.call('count', COUNT, 'a').Error).toBe(
      'busy: 448 calls of this bundle wait already, and the last places are for others',
    );
    expect(flood('b', 10)).toBe(10);
  });

  it('a flood that had all places leaves the next ones to a caller that was refused', async () => {
    stage = new Stage({ maxConcurrent: 1 });
    flood('a', 600);
    const taken: boolean[] = [];
    for (let round = 0; round < 100; round += 1) {
      await succeed(round);
      flood('a', 10);
      // As often as it is served.
      if (round % 2 === 0) taken.push(stage.call('count', COUNT, 'b').Accepted);
      flood('a', 10);
    }
    // Only the first one found all places taken.
    expect(taken.filter((isTaken) => !isTaken).length).toBeLessThanOrEqual(1);
  });

  it('one that floods has all places again when the others have been quiet for 10 s', async () => {
    stage = new Stage({ maxConcurrent: 1 });
    stage.call('count', COUNT, 'b');
    flood('a', 600);
    await vi.advanceTimersByTimeAsync(10_001);
    expect(flood('a', 600)).toBe(64);
  });

  it('two that flood do not starve a third', () => {
    stage = new Stage({ maxConcurrent: 1 });
    for (let round = 0; round < 600; round += 1) {
      stage.call('count', COUNT, 'a');
      stage.call('count', COUNT, 'b');
    }
    expect(flood('c', 10)).toBe(10);
  });

  it('are counted, each for itself', async () => {
    stage = new Stage({ maxConcurrent: 2 });
    stage.call('count', COUNT, 'a');
    stage.call('count', COUNT, 'a');
    stage.call('count', { namespace: 'other' }, 'b');
    await vi.advanceTimersByTimeAsync(40);
    await succeed(0);
    await vi.advanceTimersByTimeAsync(60);
    stage.flights[1]?.unauthorized();
    await vi.advanceTimersByTimeAsync(0);
    stage.flights[2]?.unauthorized();
    await vi.advanceTimersByTimeAsync(0);
    expect(stage.connector.callers).toEqual([
      { caller: 'a', calls: 2, errors: 1, refused: 0, p95Ms: 100 },
      { caller: 'b', calls: 0, errors: 0, refused: 1, p95Ms: 0 },
    ]);
  });

  it('that come and go for weeks do not fill the memory', () => {
    stage = new Stage({ maxConcurrent: 1 });
    for (let index = 0; index < 1000; index += 1) stage.call('count', { namespace: 'other' }, `bundle${index}`);
    const { callers } = stage.connector;
    expect(callers.length).toBeLessThanOrEqual(201);
    expect(callers[0]).toMatchObject({ caller: '(others)', refused: 800 });
  });
});

describe('calls that wait for others', () => {
  it('take half of the places in flight, so that what they wait for goes on', async () => {
    stage = new Stage({ maxConcurrent: 4 });
    for (let index = 0; index < 8; index += 1) stage.call('flush', { namespace: 'game' }, 'a');
    stage.call('count', COUNT, 'a');
    stage.call('count', COUNT, 'b');
    await vi.advanceTimersByTimeAsync(0);
    expect(sent()).toEqual([undefined, undefined, 't', 't']);
    expect(stage.connector.waiting).toBe(6);
    // Each place that a long call leaves goes to the next one.
    for (const index of [0, 1]) await succeed(index);
    expect(stage.flights.length).toBe(6);
    for (let index = 2; index < 10; index += 1) await succeed(index);
    expect([stage.flights.length, stage.connector.waiting, stage.connector.inFlight]).toEqual([10, 0, 0]);
  });

  it('parts that wait for a sync leave it a place, also where they came first', async () => {
    stage = new Stage({ maxConcurrent: 4 });
    const schema = { tables: [] };
    for (let i = 0; i < 8; i += 1) stage.call('schema.extend', { namespace: 'game', part: `p${i}`, schema }, 'a');
    stage.call('schema.sync', { namespace: 'game', schema }, 'a');
    await vi.advanceTimersByTimeAsync(0);
    expect([stage.flights.length, stage.connector.waiting]).toEqual([3, 6]);
    for (let index = 0; index < 9; index += 1) await succeed(index);
    expect([stage.flights.length, stage.connector.waiting, stage.connector.inFlight]).toEqual([9, 0, 0]);
  });
});

describe('a slow call', () => {
  it('has a line for each caller', async () => {
    stage = new Stage({ maxConcurrent: 4 });
    for (const caller of ['a', 'a', 'b']) stage.call('count', COUNT, caller);
    await vi.advanceTimersByTimeAsync(300);
    for (const index of [0, 1, 2]) await succeed(index);
    expect(stage.lines).toEqual([
      'slow call of a: count game.t took 300 ms: network and sidecar 300 ms',
      'slow call of b: count game.t took 300 ms: network and sidecar 300 ms',
    ]);
  });

  it('is explained by its parts', async () => {
    stage = new Stage({ maxConcurrent: 1 });
    stage.call('count', COUNT, 'a');
    stage.call('count', COUNT, 'b');
    await vi.advanceTimersByTimeAsync(150);
    await succeed(0);
    await vi.advanceTimersByTimeAsync(400);
    stage.flights[1]?.succeed({ serverTiming: 'total;dur=210.4, db;dur=180', stalledMs: 60 });
    await vi.advanceTimersByTimeAsync(0);
    expect(stage.lines).toEqual([
      'slow call of b: count game.t took 550 ms: queue 150 ms, game thread 60 ms, network 130 ms, sidecar 30 ms, database 180 ms',
    ]);
  });

  it('is never blamed for more than it took, whatever the API says', async () => {
    stage = new Stage({ maxConcurrent: 1 });
    stage.call('count', COUNT, 'a');
    await vi.advanceTimersByTimeAsync(300);
    stage.flights[0]?.succeed({ serverTiming: 'total;dur=99999, db;dur=88888', stalledMs: 300 });
    await vi.advanceTimersByTimeAsync(0);
    expect(stage.lines).toEqual(['slow call of a: count game.t took 300 ms: database 300 ms']);
  });
});
