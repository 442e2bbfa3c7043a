/**
 * A sample to copy from: an evening of a roleplay server on db_connector.
 *
 * Begin with schema.ts (what is stored), characters.ts (load and save), phone.ts (pages) and commands.ts (callbacks).
 * transfer-at-once.ts, paycheck.ts and transfer.ts show how money stays exact, autosave.ts how everyone is saved at once, statistics.ts what to do with what changes all the time. docs/scripting.md explains all of it.
 */
import { Database, type DbResult, type Host } from '../db_connector/helper.js';
import { createAsk } from './ask.ts';
import { Autosave } from './autosave.ts';
import { registerCommands } from './commands.ts';
import { playEvening } from './evening.ts';
import { type Game, must } from './game.ts';
import { Gate } from './gate.ts';
import { type Options, readOptions } from './options.ts';
import { populate } from './population.ts';
import { NAMESPACE, SCHEMA } from './schema.ts';
import { Statistics } from './statistics.ts';
import { summarise } from './summary.ts';
import { Tally } from './tally.ts';
import { resumeTransfers } from './transfer.ts';

/** Returns at once, so that the other bundles start even while the database is away. */
export default function start(host: Host): () => Promise<void> {
  const options = readOptions(host.vfs);
  const stopping = new AbortController();
  const surroundings = { db: new Database(host), log: host.log, signal: stopping.signal };
  const tally = new Tally();
  const game: Game = {
    ...surroundings,
    ask: createAsk(host.log, stopping.signal),
    hasTransactions: false,
    gate: new Gate(),
    autosave: new Autosave({ ...surroundings, tally }),
    statistics: new Statistics(surroundings, host.vfs),
    tally,
  };
  registerCommands(host, game);
  const statistics = game.statistics.keep();
  const evening = run(game, options).catch((error: Error) => {
    if (!stopping.signal.aborted) game.log(`the evening is over: ${error.message}`);
  });
  return async function stop() {
    stopping.abort(new Error('the bundle stops'));
    await Promise.all([evening, statistics]);
  };
}

/** In this order: no money moves before every transfer that a crash left behind has come to its end. */
async function run(game: Game, options: Options): Promise<void> {
  game.log('waiting for the database');
  const health = await game.ask(() => game.db.async.Ready());
  game.hasTransactions = options.stepwise === 0 && hasTransactions(health);
  const synced = await game.ask(() => game.db.async.Sync(NAMESPACE, SCHEMA));
  must(game, synced, 'declaring the schema');

  const population = await populate(game, options);
  const resumed = await resumeTransfers(game);
  if (resumed > 0) game.log(`finished ${resumed} transfers that were interrupted`);
  game.log(`${population} characters; try rp-richest, rp-find zoe, rp-pay 1 2 12.50, rp-stats`);

  await Promise.all([
    playEvening(game, population, options.actionsPerSecond),
    game.autosave.keep(),
    summarise(game, options.summarySeconds),
  ]);
}

/** Whether the database does several writes as one. An older sidecar says nothing of it. */
function hasTransactions(health: DbResult): boolean {
  const { capabilities } = JSON.parse(health.Json) as { capabilities?: { transactions?: boolean } };
  return capabilities?.transactions === true;
}
