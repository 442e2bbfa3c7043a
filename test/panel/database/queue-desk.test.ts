import { describe, expect, it } from 'vitest';
import type { DatabaseAccess } from '#panel/database/database-access.ts';
import { QueueDesk } from '#panel/database/queue-desk.ts';
import { ApiError } from '#protocol/errors.ts';

const OLDEST = Date.parse('2026-11-23T14:35:00Z');

/** Eight writes wait in the journal; reading the database goes as `listLetters` does. */
function access(listLetters: () => Promise<unknown>): DatabaseAccess {
  const writeBuffer = {
    figures: () => ({
      ...{ pending: 8, pendingBytes: 900, oldestAgeSeconds: 60, applied: 5, deadLettered: 1, deadLetters: 1 },
      journal: { isAvailable: true, bytesOnDisk: 4096 },
    }),
    overview: () => [
      { namespace: 'stats', pending: 8, oldestTime: OLDEST, isHalted: true, isForeign: false, isListed: true },
    ],
  };
  const parts = { engine: { queues: { listLetters } }, writeBuffer };
  return { parts, bounds: () => ({ deadline: performance.now() + 1000 }) } as unknown as DatabaseAccess;
}

const away = () => Promise.reject(new ApiError('internal_error', 'connect ECONNREFUSED'));

describe('the write queue', () => {
  it('is shown from the journal while the database is away', async () => {
    const answer = await new QueueDesk(access(away), 1000).read();
    expect(answer).toMatchObject({
      letters: null,
      hasMoreLetters: false,
      queue: {
        ...{ isAvailable: true, pending: 8, oldestAgeSeconds: 60, maxPending: 1000 },
        namespaces: [{ namespace: 'stats', pending: 8, oldest: '2026-11-23T14:35:00.000Z', state: 'halted' }],
      },
    });
  });

  it('has its failed writes when the database answers', async () => {
    expect(
      await new QueueDesk(
        access(async () => []),
        1000,
      ).read(),
    ).toMatchObject({ letters: [], queue: { pending: 8 } });
  });

  it('does not hide a mistake of the program', async () => {
    const desk = new QueueDesk(
      access(() => Promise.reject(new TypeError('a mistake'))),
      1000,
    );
    await expect(desk.read()).rejects.toThrow('a mistake');
  });
});
