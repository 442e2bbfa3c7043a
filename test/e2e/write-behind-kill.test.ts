import { expect, inject, it } from 'vitest';
import { type CampaignReport, runCampaign } from '../support/buffered/kill-campaign.ts';
import { newDatabase } from '../support/test-database.ts';
import { testFolder } from '../support/test-folder.ts';
import { seedOf } from '../support/test-seed.ts';

/**
 * `kill -9` under load, again and again: what was acknowledged is applied once and in order, what was not at most once, and a
 * key that is repeated is answered as the first time. Runs on every engine. WRITE_BEHIND_KILLS makes it long (`npm run soak`);
 * WRITE_BEHIND_SEED gives the same calls, settings and moments again, as far as a machine can.
 */

/** Kills of a campaign, which has a database and a journal of its own. */
const KILLS = inject('engine') === 'sqlite' ? 10 : 5;
const ALL_KILLS = Number(process.env.WRITE_BEHIND_KILLS ?? KILLS);
const SEED = seedOf('WRITE_BEHIND_SEED');
const CAMPAIGN_MS = 120_000;

async function campaign(seed: number, kills: number): Promise<CampaignReport> {
  const folder = testFolder();
  const database = await newDatabase();
  try {
    return await runCampaign(folder, { database: database.settings, seed, kills });
  } finally {
    await database.drop();
  }
}

it(
  'nothing acknowledged is lost, doubled or out of order when the sidecar is killed',
  async () => {
    let killsWithPending = 0;
    for (let done = 0; done < ALL_KILLS; done += KILLS) {
      const seed = SEED + done;
      const report = await campaign(seed, KILLS);
      expect(report, `WRITE_BEHIND_SEED=${seed}`).toMatchObject({ problems: [], deadLetters: 0 });
      expect(report.acknowledged).toBeGreaterThan(KILLS);
      killsWithPending += report.killsWithPending;
    }
    // Else nothing was shown.
    expect(killsWithPending, `WRITE_BEHIND_SEED=${SEED}`).toBeGreaterThan(0);
  },
  CAMPAIGN_MS * Math.ceil(ALL_KILLS / KILLS),
);
