import { EventEmitter } from 'node:events';
import type { MongoClient } from 'mongodb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HeartbeatWatch } from '#engine/mongo/connection.ts';

const SERVER = '127.0.0.1:27017';
let driver: EventEmitter;
let watch: HeartbeatWatch;

beforeEach(() => {
  vi.useFakeTimers();
  driver = new EventEmitter();
  watch = new HeartbeatWatch(334);
  watch.follow(driver as unknown as Pick<MongoClient, 'on'>);
});
afterEach(() => vi.useRealTimers());

function start(awaited: boolean, connectionId = SERVER): void {
  driver.emit('serverHeartbeatStarted', { connectionId, awaited });
}

describe("the driver's heartbeats", () => {
  it('are well while each ends, one way or the other', async () => {
    for (const event of ['serverHeartbeatSucceeded', 'serverHeartbeatFailed']) {
      start(false);
      await vi.advanceTimersByTimeAsync(300);
      driver.emit(event, { connectionId: SERVER });
      await vi.advanceTimersByTimeAsync(60_000);
      expect(watch.isStuck).toBe(false);
    }
  });

  it('are stuck when one does not end in the time that the driver gives it', async () => {
    start(false);
    await vi.advanceTimersByTimeAsync(2500);
    expect(watch.isStuck).toBe(false);
    await vi.advanceTimersByTimeAsync(500);
    expect(watch.isStuck).toBe(true);
  });

  it('may wait for news of the server', async () => {
    start(true);
    await vi.advanceTimersByTimeAsync(12_000);
    expect(watch.isStuck).toBe(false);
    await vi.advanceTimersByTimeAsync(1000);
    expect(watch.isStuck).toBe(true);
  });

  it('are told apart by server, and forgotten with one that is gone', async () => {
    start(false, 'other:27017');
    start(false);
    driver.emit('serverHeartbeatSucceeded', { connectionId: SERVER });
    await vi.advanceTimersByTimeAsync(3000);
    expect(watch.isStuck).toBe(true);
    driver.emit('serverClosed', { address: 'other:27017' });
    expect(watch.isStuck).toBe(false);
  });
});
