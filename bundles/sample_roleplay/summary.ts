import { setTimeout as sleep } from 'node:timers/promises';
import { audit, describeAudit } from './audit.ts';
import { keepHouse } from './evening.ts';
import type { Game } from './game.ts';

/** Logs a line each round until the bundle stops: what happened, and whether money and statistics are right. */
export async function summarise(game: Game, roundSeconds: number): Promise<void> {
  while (!game.signal.aborted) {
    try {
      await keepHouse(game);
      await sleep(roundSeconds * 1000, undefined, { signal: game.signal });
      const sums = describeAudit(await audit(game));
      const statistics = await game.statistics.audit();
      game.log(`last ${roundSeconds} s: ${game.tally.take()} | ${sums} | ${statistics}`);
    } catch (error) {
      if (game.signal.aborted) return;
      game.log(`no summary: ${error instanceof Error ? error.message : error}`);
      await sleep(roundSeconds * 1000, undefined, { signal: game.signal }).catch(() => {});
    }
  }
}
