import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Database, Q } from '#connector/helper/helper.ts';
import { FakeServer } from './fake-server.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 31, 12) });
});

afterEach(() => {
  vi.useRealTimers();
});

describe('Q.Now', () => {
  it('is the moment by the clock of the sidecar, and so many seconds from it', () => {
    const server = new FakeServer();
    server.clockOffset = 90_250;
    new Database(server);
    expect(Q.Now()).toBe('2026-01-31T12:01:30.250Z');
    expect(Q.Now(3600)).toBe('2026-01-31T13:01:30.250Z');
    expect(Q.Now(-0.25)).toBe('2026-01-31T12:01:30.000Z');
  });

  it('hears of a clock that was set meanwhile', () => {
    const server = new FakeServer();
    new Database(server);
    expect(Q.Now()).toBe('2026-01-31T12:00:00.000Z');
    server.clockOffset = -1000;
    vi.advanceTimersByTime(2000);
    expect(Q.Now()).toBe('2026-01-31T12:00:01.000Z');
  });

  it('goes on with the last clock that was known while the connector is away, or is an older one', () => {
    const server = new FakeServer();
    server.clockOffset = 5000;
    new Database(server);
    expect(Q.Now()).toBe('2026-01-31T12:00:05.000Z');
    vi.advanceTimersByTime(2000);
    server.isRunning = false;
    expect(Q.Now()).toBe('2026-01-31T12:00:07.000Z');
    vi.advanceTimersByTime(2000);
    server.isRunning = true;
    server.clockOffset = undefined;
    expect(Q.Now()).toBe('2026-01-31T12:00:09.000Z');
  });

  it('follows the clock after another bundle, which was the last to ask, has stopped', () => {
    const [server, other] = [new FakeServer(), new FakeServer()];
    Object.defineProperty(other, 'name', { value: 'shop' });
    new Database(server);
    new Database(other);
    expect(Q.Now()).toBe('2026-01-31T12:00:00.000Z');
    vi.advanceTimersByTime(2000);
    other.isRunning = false;
    server.clockOffset = 3_600_000;
    expect(Q.Now()).toBe('2026-01-31T13:00:02.000Z');
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 1e15, -1e15, '5' as never])('refuses %s', (seconds) => {
    expect(() => Q.Now(seconds)).toThrow(/^Q\.Now: /);
  });
});
