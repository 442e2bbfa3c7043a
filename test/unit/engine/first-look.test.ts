import { expect, it } from 'vitest';
import type { EngineLog } from '#engine/log.ts';
import { TroubleLog } from '#engine/model/failures.ts';
import { classify, describe as describeFailure } from '#engine/mysql/failures.ts';
import { UnconfirmedError } from '#engine/sql/pool/deadline-session.ts';
import type { ConnectionSource, SqlConnection } from '#engine/sql/pool/driver.ts';
import { HostWatch } from '#engine/sql/pool/host-watch.ts';
import { PooledSessions } from '#engine/sql/pool/sessions.ts';

const CONNECTION = { isUsable: true, isWornOut: false } as SqlConnection;
const DEADLOCK = Object.assign(new Error('deadlock'), { errno: 1213 });
const CUT = Object.assign(new Error('cut'), { code: 'ECONNRESET' });

function sessionsAt(acquire: ConnectionSource['acquire'], isPreparing: boolean, lines: string[]): PooledSessions {
  const log: EngineLog = (level, message) => lines.push(`${level}: ${message}`);
  const source: ConnectionSource = {
    isSnapshot: false,
    isPreparing,
    take: () => null,
    acquire,
    release: () => {},
    discard: () => {},
    leaveHost: () => false,
    hostInUse: () => ({ host: 'own', insteadOf: null, hasOthers: false }),
    close: async () => {},
    classify,
    describe: describeFailure,
  };
  return new PooledSessions(source, 1, new TroubleLog(log));
}

/** The lines of a start with a server that gives `answers` one after another, whatever the time. */
async function linesOfStart(answers: readonly (SqlConnection | Error | null)[], isPreparing: boolean) {
  const lines: string[] = [];
  const left = [...answers];
  const acquire = async (): Promise<SqlConnection | null> => {
    const answer = left.shift();
    if (answer instanceof Error) throw answer;
    return answer ?? null;
  };
  await sessionsAt(acquire, isPreparing, lines).lookFirst();
  expect(left).toEqual([]);
  return lines;
}

it('logs nothing for a server that answers late, because it makes the system tables', async () => {
  expect(await linesOfStart([null, CONNECTION], true)).toEqual([]);
});

it('logs nothing for a lost connection, or another sidecar at the same tables, before one that stays', async () => {
  expect(await linesOfStart([CUT, DEADLOCK, CONNECTION], false)).toEqual([]);
});

it('tells of a server that does not answer', async () => {
  expect(await linesOfStart([null], false)).toEqual([
    expect.stringContaining('error: the database failed: it cannot be'),
  ]);
});

it('tells that a server takes writes again only once it has taken one', async () => {
  const lines: string[] = [];
  const sessions = sessionsAt(async () => CONNECTION, false, lines);
  const bounds = { deadline: performance.now() + 60_000 };
  const notReady = Object.assign(new Error('not ready'), { errno: 1047, sqlMessage: 'not ready' });
  for (const kind of ['read', 'write'] as const) {
    await expect(sessions[kind](bounds, () => Promise.reject(notReady))).rejects.toMatchObject({
      code: 'database_error',
    });
    await sessions.read(bounds, async () => 'state');
    expect(lines).toEqual([expect.stringMatching(/^error: the database failed: this node has no majority /)]);
  }
  await sessions.write(bounds, async () => 'done');
  expect(lines.slice(1)).toEqual(['info: the database works again']);
});

it('tells that no standby confirms, and when one does again', async () => {
  const lines: string[] = [];
  const sessions = sessionsAt(async () => CONNECTION, false, lines);
  const bounds = { deadline: performance.now() + 60_000 };
  const UNKNOWN = { code: 'database_timeout', message: expect.stringContaining('unknown') };
  await expect(sessions.write(bounds, () => Promise.reject(new UnconfirmedError()))).rejects.toMatchObject(UNKNOWN);
  await sessions.read(bounds, async () => 'state');
  expect(lines).toEqual([expect.stringContaining('error: the database failed: no synchronous standby confirms')]);
  await sessions.write(bounds, async () => 'done');
  expect(lines.slice(1)).toEqual(['info: the database works again']);
});

it('begins at the first good host of the URL, whichever answers first', async () => {
  const answered = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const lines: string[] = [];
  const watch = new HostWatch(
    {
      hosts: ['near', 'far'],
      hasEpochs: false,
      preparesAfterLoss: false,
      newConnection: (host) =>
        ({ ...CONNECTION, connect: () => answered[host]?.promise, destroy() {} }) as SqlConnection,
      async standing() {
        // The far one has answered, so the near one may.
        setImmediate(() => answered[0]?.resolve());
        return { obstacle: null, epoch: 0 };
      },
      prepare: async () => {},
      classify,
      describe: describeFailure,
    },
    (_level, message) => lines.push(message),
  );
  const opened = watch.connect(
    (made) => made.connect(),
    () => {},
  );
  answered[1]?.resolve();
  expect(watch.isAtCurrent(await opened)).toBe(true);
  expect(lines).toEqual([]);
  watch.close();
});
