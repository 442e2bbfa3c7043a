import { setTimeout as wait } from 'node:timers/promises';
import { type SidecarProcess, spawnSidecar } from '../sidecar-process.ts';
import {
  bufferedConfig,
  bufferHealth,
  endProcess,
  flush,
  logged,
  prepareTables,
  spawnBriefly,
} from './buffered-sidecar.ts';
import { Dice } from './dice.ts';
import { Load } from './load.ts';

const WRITERS = 8;
/** Acknowledgements before a kill, at most. */
const MAX_ACKNOWLEDGED = 512;
/** The process is up and answers within about this, on a machine that is not busy. */
const START_MS = 1200;

/** Codes of a machine that is busy: what came of such a call is judged all the same. */
const SLOW = ['database_timeout', 'timeout', 'conflict_retry', 'write_buffer_halted'];

export interface CampaignOptions {
  /** `database` of sidecar.json. */
  readonly database: object;
  readonly seed: number;
  readonly kills: number;
}

export interface CampaignReport {
  readonly problems: readonly string[];
  readonly acknowledged: number;
  /** Calls that a kill left without an answer, and that had no key to be repeated. */
  readonly unknown: number;
  /** Kills with acknowledged writes that were still pending, as the next start told. */
  readonly killsWithPending: number;
  readonly deadLetters: number;
}

/**
 * Kills a sidecar again and again under load, at moments and with settings that the seed chooses, each time on the journal and
 * the database that the one before left; then compares the database with all that was ever acknowledged.
 */
export async function runCampaign(folder: string, { database, seed, kills }: CampaignOptions): Promise<CampaignReport> {
  const dice = new Dice(seed);
  const load = new Load({ writers: WRITERS, seed, expectedCodes: SLOW });
  let killsWithPending = 0;
  let starts = 0;
  const start = async (): Promise<SidecarProcess> => {
    // The first two leave much pending.
    const settings = starts < 2 ? SELDOM : randomSettings(dice);
    const sidecar = await spawnSidecar(folder, bufferedConfig(database, settings));
    if (starts === 0) await prepareTables(sidecar.client, WRITERS);
    starts += 1;
    if (logged(sidecar, 'info').includes('the journal holds queued writes')) killsWithPending += 1;
    return sidecar;
  };
  for (let kill = 0; kill < kills; kill += 1) {
    const sidecar = await start();
    await checkStart(load, sidecar, dice);
    await killUnderLoad(load, sidecar, dice, kill === 2);
    // Some do not live long enough to serve: they die while they read the journal, or apply what it holds.
    if (dice.chance(15)) await spawnBriefly(folder, bufferedConfig(database), dice.int(START_MS / 3, START_MS * 1.5));
    if (load.oracle.problems.length > 0) break;
  }
  const last = await start();
  try {
    return { ...(await finish(load, last)), killsWithPending };
  } finally {
    await last.kill();
  }
}

const SELDOM = { flushIntervalMs: 60_000, flushAtPending: 5000 };

/** From at once to seldom, so that some are killed with much pending and some in the middle of applying it. */
function randomSettings(dice: Dice): object {
  return {
    flushIntervalMs: dice.pick([20, 300, 60_000]),
    flushAtPending: dice.pick([1, 50, 5000]),
    drainOnStopMs: dice.pick([0, 5000]),
  };
}

/** Keys first: reading drains, and then nothing is pending any more. */
async function checkStart(load: Load, { client }: SidecarProcess, dice: Dice): Promise<void> {
  if (load.acknowledged === 0) return;
  await load.repeatKeys(client);
  if (dice.chance(30)) load.oracle.problems.push(...(await load.judge(client)).slice(load.oracle.problems.length));
}

async function killUnderLoad(load: Load, sidecar: SidecarProcess, dice: Dice, isStopped: boolean): Promise<void> {
  const moment = load.acknowledgements(dice.scale(MAX_ACKNOWLEDGED));
  const running = load.run(sidecar.client, () => false);
  await Promise.race([moment, running]);
  if (dice.chance(50)) await wait(dice.int(0, 30));
  const code = await endProcess(sidecar, isStopped ? 'SIGTERM' : 'SIGKILL');
  await running;
  if (isStopped && code !== 0) load.oracle.problems.push(`a stop under load ended with ${code}`);
}

async function finish(load: Load, { client }: SidecarProcess): Promise<Omit<CampaignReport, 'killsWithPending'>> {
  if (load.oracle.problems.length === 0) await load.repeatKeys(client);
  load.end();
  const flushed = await flush(client);
  const problems = await load.judge(client);
  if (flushed.remaining !== 0 || flushed.halted) problems.push(`flush: ${JSON.stringify(flushed)}`);
  const { deadLetters } = await bufferHealth(client);
  if (deadLetters > 0) problems.push(`${deadLetters} dead letters`);
  return {
    problems,
    acknowledged: load.acknowledged,
    unknown: load.oracle.calls.filter((call) => call.outcome === 'unknown').length,
    deadLetters,
  };
}
