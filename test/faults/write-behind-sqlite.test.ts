import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import SQLite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NAMESPACE } from '../support/buffered/oracle.ts';
import { testFolder } from '../support/test-folder.ts';
import { seedOf } from '../support/test-seed.ts';
import { type BufferedWorld, becomesWhole, DOWN_MS, openBufferedWorld, underLoad } from './buffered-world.ts';
import { itSurvivesHands } from './changed-by-hand.ts';

const SEED = seedOf('WRITE_BEHIND_SEED');

describe('a buffered namespace whose database file', () => {
  const folder = testFolder();
  let world: BufferedWorld;
  beforeAll(async () => {
    world = await openBufferedWorld({ provider: 'sqlite', file: 'data/database.sqlite' }, folder, SEED);
  });
  afterAll(() => world?.stop());

  it(
    'is held by another process for a while',
    async () => {
      const other = new SQLite(join(folder, 'data/database.sqlite'));
      try {
        await underLoad(world, async () => {
          other.exec('BEGIN EXCLUSIVE');
          await Promise.all([world.load.acknowledgements(100), wait(DOWN_MS)]);
          const answer = await world.sidecar.client.call('count', { namespace: NAMESPACE, table: 'events' });
          expect(answer).toMatchObject({ status: 503, code: 'write_buffer_halted' });
          other.exec('COMMIT');
        });
      } finally {
        other.close();
      }
      await becomesWhole(world, SEED);
    },
    60_000 + 2 * DOWN_MS,
  );

  itSurvivesHands(
    () => world,
    async (from, to) => {
      const other = new SQLite(join(folder, 'data/database.sqlite'));
      other.exec(`ALTER TABLE "${from}" RENAME TO "${to}"`);
      other.close();
    },
  );
});
