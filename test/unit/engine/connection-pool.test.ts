import { expect, it, onTestFinished, vi } from 'vitest';
import { classify, describe as describeFailure } from '#engine/mysql/failures.ts';
import type { SqlConnection, SqlDriver } from '#engine/sql/pool/driver.ts';
import { ConnectionPool } from '#engine/sql/pool/pool.ts';

/** A server that lets everybody in; `isOpen` false: not before it is told to. */
class Server {
  readonly connections: FakeConnection[] = [];
  isOpen = true;
  readonly #waiting: (() => void)[] = [];

  open(): void {
    this.isOpen = true;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  driver(): SqlDriver {
    return {
      hosts: ['own'],
      hasEpochs: false,
      preparesAfterLoss: false,
      newConnection: () => {
        const connection = new FakeConnection(() =>
          this.isOpen ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve)),
        );
        this.connections.push(connection);
        return connection as unknown as SqlConnection;
      },
      standing: async () => ({ obstacle: null, epoch: 0 }),
      prepare: async () => {},
      classify,
      describe: describeFailure,
    };
  }
}

class FakeConnection {
  isUsable = true;
  isWornOut = false;
  isEnded = false;
  readonly connect: () => Promise<void>;

  constructor(connect: () => Promise<void>) {
    this.connect = connect;
  }

  async end(): Promise<void> {
    this.isEnded = true;
  }

  destroy(): void {
    this.isUsable = false;
  }
}

function poolOf(server: Server, size: number): ConnectionPool {
  const pool = new ConnectionPool(server.driver(), size, () => {});
  onTestFinished(() => pool.close());
  return pool;
}

const soon = (): number => performance.now() + 5000;

it('has the connection at hand that was given back last, and no other', async () => {
  const pool = poolOf(new Server(), 2);
  const [first, second] = [await pool.acquire(soon()), await pool.acquire(soon())] as SqlConnection[];
  expect(pool.take()).toBeNull();
  pool.release(second as SqlConnection);
  pool.release(first as SqlConnection);
  expect([pool.take(), pool.take(), pool.take()]).toEqual([first, second, null]);
  for (const connection of [first, second] as SqlConnection[]) pool.release(connection);
});

it('replaces a connection that broke, or that is worn out, while nobody had it', async () => {
  const server = new Server();
  const pool = poolOf(server, 1);
  const first = (await pool.acquire(soon())) as SqlConnection;
  pool.release(first);
  first.destroy();
  expect(pool.take()).toBeNull();
  const second = (await pool.acquire(soon())) as SqlConnection;
  expect(second).not.toBe(first);
  (server.connections[1] as FakeConnection).isWornOut = true;
  pool.release(second);
  expect(pool.take()).toBeNull();
  const third = (await pool.acquire(soon())) as SqlConnection;
  expect(third).toBe(server.connections[2]);
  pool.release(third);
});

it('gives a connection to the call that waits for one, as the next is still being made', async () => {
  const server = new Server();
  const pool = poolOf(server, 2);
  const first = (await pool.acquire(soon())) as SqlConnection;
  server.isOpen = false;
  const waiting = pool.acquire(soon());
  pool.release(first);
  expect(pool.take()).toBeNull();
  expect(await waiting).toBe(first);
  server.open();
  pool.release(first);
});

it('hands a connection that nobody takes to the pool below, which lends it again', async () => {
  const pool = poolOf(new Server(), 1);
  const first = (await pool.acquire(soon())) as SqlConnection;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  pool.release(first);
  vi.advanceTimersByTime(1000);
  vi.useRealTimers();
  expect(pool.take()).toBeNull();
  expect(await pool.acquire(soon())).toBe(first);
  pool.release(first);
});

it('ends a connection at hand when it closes, and one that is given back later', async () => {
  const server = new Server();
  const pool = poolOf(server, 2);
  const [first, second] = [await pool.acquire(soon()), await pool.acquire(soon())] as SqlConnection[];
  pool.release(first as SqlConnection);
  const closed = pool.close();
  pool.release(second as SqlConnection);
  expect(pool.take()).toBeNull();
  await closed;
  expect(server.connections.map(({ isEnded }) => isEnded)).toEqual([true, true]);
});
