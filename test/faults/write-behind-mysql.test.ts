import { createConnection } from 'mysql2/promise';
import { it } from 'vitest';
import { becomesHalted, becomesWhole, drained, underLoad } from './buffered-world.ts';
import { itSurvivesHands } from './changed-by-hand.ts';
import { describeBufferedFaults } from './write-behind-server-faults.ts';

async function run(url: string, statement: string): Promise<void> {
  const connection = await createConnection(url);
  try {
    await connection.query(statement);
  } finally {
    await connection.end();
  }
}

describeBufferedFaults('mysql', (world, seed) => {
  it('is read-only for a while', async () => {
    const { adminUrl } = world().server;
    await underLoad(world(), async () => {
      await run(adminUrl, 'SET GLOBAL read_only = 1');
      await becomesHalted(world());
      await run(adminUrl, 'SET GLOBAL read_only = 0');
    });
    await drained(world());
    await becomesWhole(world(), seed);
  }, 180_000);

  itSurvivesHands(world, (from, to) => run(world().server.url, `RENAME TABLE \`${from}\` TO \`${to}\``));
});
