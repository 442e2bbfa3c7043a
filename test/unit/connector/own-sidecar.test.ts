import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RestartRule } from '#connector/embedded/restart-rule.ts';
import { embeddedPlace } from '#connector/host/fivem/embedded-place.ts';
import { configuration, Stage } from './scripted.ts';

describe('a sidecar that ended', () => {
  it('is started again after 1 s, doubling, and not a sixth time within ten minutes', () => {
    const rule = new RestartRule();
    const pauses = [0, 1, 2, 3, 4, 5].map((second) => rule.next(second * 1000));
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, null]);
    expect(rule.next(599_999)).toBeNull();
    // The first of the five is ten minutes old.
    expect(rule.next(600_000)).toBe(16_000);
    expect(rule.next(2_000_000)).toBe(1000);
  });
});

describe('on FXServer its data', () => {
  it.each([
    ['/srv/fx/resources/db_connector', '/srv/fx/db_connector_data'],
    ['/srv/fx/resources/[core]/[data]/db_connector', '/srv/fx/db_connector_data'],
    ['/srv/fx/resources//[core]/db_connector/', '/srv/fx/db_connector_data'],
    ['/resources/fx/resources/db_connector', '/resources/fx/db_connector_data'],
    ['/srv/elsewhere/db_connector', '/srv/elsewhere/db_connector_data'],
  ])('of %s lies in %s', (path, folder) => {
    const fx = { GetResourcePath: () => path, LoadResourceFile: () => null };
    expect(embeddedPlace(fx, 'db_connector').folder).toBe(folder);
  });
});

describe('while the connector’s own sidecar starts', () => {
  let stage: Stage;

  beforeEach(() => {
    vi.useFakeTimers();
    stage = new Stage();
    stage.connector.holdCalls(configuration().config);
  });

  afterEach(async () => {
    await stage.connector.stop();
    vi.useRealTimers();
  });

  it('calls wait, are checked as ever, and go out once it answers', async () => {
    const ticket = stage.call();
    expect(stage.call('count', { namespace: 'elsewhere', table: 't' }).Error).toMatch(/^namespace_not_allowed/);
    await vi.advanceTimersByTimeAsync(29_999);
    expect([stage.take(ticket).State, stage.flights.length, stage.connector.waiting]).toEqual(['pending', 0, 1]);
    void stage.connector.configure(configuration());
    await vi.advanceTimersByTimeAsync(0);
    stage.flights[0]?.succeed();
    await vi.advanceTimersByTimeAsync(0);
    expect(stage.take(ticket)).toMatchObject({ State: 'ok', Status: 200 });
    // It took half a minute, which is no fault of a slow call.
    expect(stage.lines).toEqual([]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(stage.connector.isHolding).toBe(false);
  });

  it('they wait for 30 s at most, and nothing of it counts for the circuit breaker', async () => {
    const tickets = Array.from({ length: 20 }, () => stage.call());
    await vi.advanceTimersByTimeAsync(30_000);
    for (const ticket of tickets) expect(stage.take(ticket)).toMatchObject({ State: 'error', Code: 'unavailable' });
    expect(stage.call().Error).toMatch(/^unavailable: the sidecar of this server has not started within 30 s/);
    void stage.connector.configure(configuration());
    expect(stage.connector.client?.breaker.state).toBe('closed');
    expect(stage.call().Accepted).toBe(true);
  });

  it('no more than 512 wait', () => {
    const tickets = Array.from({ length: 513 }, () => stage.call());
    expect(tickets.filter((ticket) => ticket.Accepted)).toHaveLength(512);
    expect(tickets[512]?.Error).toMatch(/^busy/);
  });

  it('a start that cannot be says at once why', async () => {
    const ticket = stage.call();
    stage.connector.giveUpHold('the sidecar needs Node.js');
    await vi.advanceTimersByTimeAsync(0);
    const { Code, Json } = stage.take(ticket);
    expect([Code, JSON.parse(Json).error.message]).toEqual(['unavailable', 'the sidecar needs Node.js']);
    expect(stage.call().Error).toBe('unavailable: the sidecar needs Node.js');
  });
});

describe('when attempts at the connector’s own sidecar fail', () => {
  let stage: Stage;

  beforeEach(() => {
    vi.useFakeTimers();
    stage = new Stage({ maxConcurrent: 5 });
    void stage.connector.configure(configuration({ maxConcurrent: 5, slowCallMs: 0 }), true);
  });

  afterEach(async () => {
    await stage.connector.stop();
    vi.useRealTimers();
  });

  const settle = () => vi.advanceTimersByTimeAsync(0);
  const codes = (tickets: ReturnType<Stage['write']>[]) => tickets.map((ticket) => stage.take(ticket).Code);

  it('and its end is seen afterwards, only what was in flight fails', async () => {
    const running = Array.from({ length: 5 }, () => stage.write());
    const waiting = Array.from({ length: 3 }, () => stage.write());
    for (const flight of [...stage.flights]) {
      flight.fail();
      await settle();
    }
    // The circuit is open by now.
    waiting.push(stage.write());
    expect(stage.flights.length).toBe(5);
    await vi.advanceTimersByTimeAsync(900);
    stage.connector.holdCalls(configuration().config);
    await vi.advanceTimersByTimeAsync(5000);
    void stage.connector.configure(configuration({ slowCallMs: 0 }), true);
    await settle();
    for (const flight of stage.flights) flight.succeed();
    await settle();
    expect(codes(running)).toEqual(Array(5).fill('network'));
    expect(waiting.map((ticket) => stage.take(ticket).State)).toEqual(Array(4).fill('ok'));
    expect(stage.lines).toEqual([]);
  });

  it('and it lives, the open circuit ends what waits a second later', async () => {
    Array.from({ length: 5 }, () => stage.write());
    const waiting = [stage.write(), stage.write()];
    for (const flight of [...stage.flights]) flight.fail();
    await vi.advanceTimersByTimeAsync(999);
    waiting.push(stage.write());
    expect(waiting.map((ticket) => stage.take(ticket).State)).toEqual(Array(3).fill('pending'));
    await vi.advanceTimersByTimeAsync(2);
    expect(codes(waiting)).toEqual(Array(3).fill('unavailable'));
    expect(stage.write().Error).toMatch(/^unavailable/);
    expect(stage.lines).toHaveLength(1);
  });

  it('and the circuit stays closed, what waits goes on a second later', async () => {
    Array.from({ length: 5 }, () => stage.write());
    const waiting = stage.write();
    stage.flights[0]?.fail();
    await vi.advanceTimersByTimeAsync(999);
    expect(stage.flights.length).toBe(5);
    await vi.advanceTimersByTimeAsync(2);
    stage.flights[5]?.succeed();
    await settle();
    expect(stage.take(waiting).State).toBe('ok');
  });
});

describe('when the connector’s own sidecar has died', () => {
  it('new calls wait, and the circuit breaker of the dead one says nothing about the next', async () => {
    vi.useFakeTimers();
    const stage = new Stage({ maxConcurrent: 5 });
    const running = Array.from({ length: 5 }, () => stage.write());
    const lost = stage.flights.slice();
    stage.connector.holdCalls(configuration().config);
    const waiting = stage.call();
    for (const flight of lost) flight.fail();
    await vi.advanceTimersByTimeAsync(0);
    expect(running.map((ticket) => stage.take(ticket).Code)).toEqual(Array(5).fill('network'));
    expect(stage.take(waiting).State).toBe('pending');
    void stage.connector.configure(configuration());
    await vi.advanceTimersByTimeAsync(0);
    stage.flights[0]?.succeed();
    await vi.advanceTimersByTimeAsync(0);
    expect(stage.take(waiting).State).toBe('ok');
    await stage.connector.stop();
    vi.useRealTimers();
  });
});
