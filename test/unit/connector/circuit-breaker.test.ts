import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
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

/** Lets promises settle. */
async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

async function failOnce(): Promise<void> {
  const ticket = stage.write();
  expect(ticket.Accepted).toBe(true);
  stage.flights.at(-1)?.fail();
  await settle();
}

async function open(): Promise<void> {
  for (let round = 0; round < 5; round += 1) {
    await failOnce();
  }
  expect(state()).toBe('open');
}

function state(): string | undefined {
  return stage.connector.client?.breaker.state;
}

describe('opening', () => {
  it('takes five transport failures in a row, not four', async () => {
    for (let round = 0; round < 4; round += 1) {
      await failOnce();
    }
    expect(state()).toBe('closed');
    await failOnce();
    expect(state()).toBe('open');
    expect(stage.call().Error).toBe('unavailable: paused: the sidecar did not answer 5 times; next try in 15 s');
  });

  it('starts to count anew after a success', async () => {
    for (let round = 0; round < 12; round += 1) {
      await failOnce();
      if (round % 4 === 3) {
        stage.call();
        stage.flights.at(-1)?.succeed();
        await settle();
      }
    }
    expect(state()).toBe('closed');
  });

  it('counts an unsigned 401 as success and a stall as nothing', async () => {
    for (let round = 0; round < 4; round += 1) {
      await failOnce();
    }
    stage.write();
    stage.flights.at(-1)?.stall();
    await settle();
    stage.write();
    stage.flights.at(-1)?.unauthorized();
    await settle();
    stage.flights.at(-1)?.unauthorized();
    await settle();
    await failOnce();
    expect(state()).toBe('closed');
  });

  it('counts every attempt, also those that begin a long time after each other', async () => {
    for (let round = 0; round < 4; round += 1) {
      const ticket = stage.write();
      await vi.advanceTimersByTimeAsync(60_000);
      stage.flights.at(-1)?.fail();
      await settle();
      expect(stage.take(ticket).State).toBe('error');
      expect(state()).toBe('closed');
    }
    await failOnce();
    expect(state()).toBe('open');
  });

  it('ends what waits, lets attempts in flight finish, and ends a call between its attempts with its last error', async () => {
    const between = stage.call('count');
    stage.flights[0]?.fail();
    await settle();
    expect(stage.take(between).State).toBe('pending');
    const inFlight = Array.from({ length: 15 }, () => stage.call());
    const waiting = Array.from({ length: 3 }, () => stage.call());
    expect(stage.connector.waiting).toBe(3);
    for (const flight of stage.flights.slice(1, 5)) {
      flight.fail();
    }
    await settle();
    expect(state()).toBe('open');
    expect(waiting.map((ticket) => stage.take(ticket).Code)).toEqual(Array(3).fill('unavailable'));
    expect(stage.take(between).Code).toBe('network');
    expect(inFlight.slice(0, 4).map((ticket) => stage.take(ticket).Code)).toEqual(Array(4).fill('network'));
    expect(inFlight.slice(4).map((ticket) => stage.take(ticket).State)).toEqual(Array(11).fill('pending'));
    stage.flights.at(-1)?.succeed();
    await settle();
    expect(inFlight.slice(-1).map((ticket) => stage.take(ticket).State)).toEqual(['ok']);
    expect(state()).toBe('open');
    expect(stage.flights.length).toBe(16);
  });
});

describe('after 15 s', () => {
  it('says how long it lasts', async () => {
    await open();
    await vi.advanceTimersByTimeAsync(13_500);
    expect(stage.call().Error).toMatch(/next try in 2 s$/);
    await vi.advanceTimersByTimeAsync(1499);
    expect(stage.call().Error).toMatch(/next try in 1 s$/);
  });

  it('one trial call closes it, and the others are refused meanwhile', async () => {
    await open();
    await vi.advanceTimersByTimeAsync(15_000);
    expect(state()).toBe('half-open');
    const before = stage.flights.length;
    const trial = stage.call();
    expect(stage.call().Error).toBe(
      'unavailable: paused: the sidecar did not answer 5 times; a trial call is under way',
    );
    expect(stage.flights.length).toBe(before + 1);
    stage.flights.at(-1)?.succeed();
    await settle();
    expect(stage.take(trial).State).toBe('ok');
    expect(state()).toBe('closed');
    expect(stage.call().Accepted).toBe(true);
  });

  it('a trial that fails has had one attempt and opens it again', async () => {
    await open();
    await vi.advanceTimersByTimeAsync(15_000);
    const before = stage.flights.length;
    const trial = stage.call('find', { namespace: 'game', table: 't' });
    stage.flights.at(-1)?.fail();
    await settle();
    expect(stage.take(trial).Code).toBe('network');
    expect(state()).toBe('open');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(stage.flights.length).toBe(before + 1);
    expect(stage.call().Error).toMatch(/next try in 5 s$/);
    await vi.advanceTimersByTimeAsync(5000);
    expect(state()).toBe('half-open');
  });

  it('a trial during which the thread stood still is no trial: the next call is', async () => {
    await open();
    await vi.advanceTimersByTimeAsync(15_000);
    stage.write();
    stage.flights.at(-1)?.stall();
    await settle();
    expect(state()).toBe('half-open');
    expect(stage.write().Accepted).toBe(true);
  });

  it('a trial that fails inside the connector is no trial: the next call is', async () => {
    await open();
    await vi.advanceTimersByTimeAsync(15_000);
    const [transport] = stage.transports;
    const send = vi.spyOn(transport as object as { send: () => unknown }, 'send').mockImplementationOnce(() => {
      throw new Error('no');
    });
    const broken = stage.write();
    await settle();
    expect(stage.take(broken).Code).toBe('internal');
    send.mockRestore();
    expect(stage.write().Accepted).toBe(true);
  });

  it('an attempt from before decides nothing', async () => {
    const old = [stage.call(), stage.call()];
    const [first, second] = [...stage.flights];
    await open();
    await vi.advanceTimersByTimeAsync(15_000);
    first?.fail();
    await settle();
    expect(state()).toBe('half-open');
    second?.succeed();
    await settle();
    expect(state()).toBe('half-open');
    expect(old.map((ticket) => stage.take(ticket).State)).toEqual(['error', 'ok']);
  });

  it('a reload closes it at once', async () => {
    await open();
    await stage.connector.configure(configuration());
    expect(state()).toBe('closed');
    expect(stage.call().Accepted).toBe(true);
  });
});
