import { expect, it } from 'vitest';
import { classify, describe as describeFailure } from '#engine/mysql/failures.ts';
import type { SqlConnection, SqlDriver } from '#engine/sql/pool/driver.ts';
import type { Standing } from '#engine/sql/pool/host-choice.ts';
import { HostWatch } from '#engine/sql/pool/host-watch.ts';

const TIMED_OUT = Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' });
const REFUSED = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });

interface Host {
  obstacle: Standing['obstacle'];
  /** Errors of the next connections. */
  failures: Error[];
  isDown: boolean;
}

/** Two hosts of the test, and what the owner is told. */
function watching(farObstacle: Standing['obstacle'] = null) {
  const host = (obstacle: Standing['obstacle']): Host => ({ obstacle, failures: [], isDown: false });
  const hosts = [host(null), host(farObstacle)] as const;
  const lines: string[] = [];
  const driver: SqlDriver = {
    ...{ hosts: ['near', 'far'], hasEpochs: false, preparesAfterLoss: false, prepare: async () => {} },
    newConnection: (position) =>
      ({
        async connect() {
          const { isDown, failures } = hosts[position] as Host;
          const failure = isDown ? REFUSED : failures.shift();
          if (failure !== undefined) throw failure;
        },
        async query() {
          if (hosts[position]?.isDown === true) throw REFUSED;
          return { rows: [[position]], affected: 0 };
        },
        destroy() {},
      }) as unknown as SqlConnection,
    async standing(query) {
      const { obstacle } = hosts[Number((await query('')).rows[0]?.[0])] as Host;
      return { obstacle, epoch: 0 };
    },
    classify,
    describe: describeFailure,
  };
  const watch = new HostWatch(driver, (_level, message) => lines.push(message));
  const connect = (): Promise<SqlConnection> =>
    watch.connect(
      (made) => made.connect(),
      () => {},
    );
  return { near: hosts[0], far: hosts[1], lines, watch, connect };
}

it('stays at a primary to which a single connection failed, and tells nothing', async () => {
  const { near, lines, watch, connect } = watching('standby');
  const first = await connect();
  near.failures.push(TIMED_OUT);
  await expect(connect()).rejects.toBe(TIMED_OUT);
  expect([watch.isAtCurrent(first), watch.inUse.insteadOf]).toEqual([true, null]);
  expect(watch.isAtCurrent(await connect())).toBe(true);
  expect(lines).toEqual([]);
  watch.close();
});

it('goes to a standby, for reads, once a second look finds the primary away too', async () => {
  const { near, lines, watch, connect } = watching('standby');
  await connect();
  near.isDown = true;
  expect(watch.isAtCurrent(await connect())).toBe(true);
  expect(watch.inUse.host).toBe('far');
  expect(lines).toEqual([expect.stringContaining('does not answer or takes no writes')]);
  watch.close();
});

it('tells nothing of a host that was left for another one that is away itself', async () => {
  const { far, lines, watch, connect } = watching();
  const first = await connect();
  far.isDown = true;
  watch.failed(first);
  expect(watch.isAtCurrent(await connect())).toBe(true);
  expect(watch.inUse.host).toBe('near');
  expect(lines).toEqual([]);
  watch.close();
});

it('tells of a host that is left once the next one has taken a connection', async () => {
  const { lines, watch, connect } = watching();
  watch.failed(await connect());
  expect(lines).toEqual([]);
  await connect();
  expect([watch.inUse.host, lines.length]).toEqual(['far', 1]);
  watch.close();
});
