import { Client } from 'pg';
import { it } from 'vitest';
import { becomesHalted, becomesWhole, drained, underLoad } from './buffered-world.ts';
import { itSurvivesHands } from './changed-by-hand.ts';
import { describeBufferedFaults } from './write-behind-server-faults.ts';

const END_SESSIONS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'sidecar'";

async function run(url: string, ...statements: string[]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

describeBufferedFaults('postgres', (world, seed) => {
  it('is read-only for a while', async () => {
    const { adminUrl } = world().server;
    await underLoad(world(), async () => {
      await run(adminUrl, 'ALTER ROLE sidecar SET default_transaction_read_only = on', END_SESSIONS);
      await becomesHalted(world());
      await run(adminUrl, 'ALTER ROLE sidecar RESET default_transaction_read_only', END_SESSIONS);
    });
    await drained(world());
    await becomesWhole(world(), seed);
  }, 180_000);

  itSurvivesHands(world, (from, to) => run(world().server.url, `ALTER TABLE "${from}" RENAME TO "${to}"`));
});
