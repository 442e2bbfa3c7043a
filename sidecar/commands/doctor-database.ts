import { existsSync } from 'node:fs';
import { ApiError } from '#protocol/errors.ts';
import { BackupLease, type DoneElsewhere } from '../backup/backup-lease.ts';
import { keyMarks, readKeyMarks, unequalKeys } from '../cluster/key-marks.ts';
import type { DatabaseConfig } from '../config/database.ts';
import type { SidecarConfig } from '../config/load-config.ts';
import type { DatabaseFacts, Engine, WriteObstacle } from '../engine/engine.ts';
import { openEngine } from '../engine/open.ts';
import { readId } from '../security/instance.ts';
import type { Finding } from './doctor-files.ts';
import { databaseName, eventLine } from './with-engine.ts';

/** Two clocks that are kept right by the network differ less. */
const MAX_CLOCK_DIFFERENCE_MS = 5000;
const ANSWER_MS = 5000;

const bounds = () => ({ deadline: performance.now() + ANSWER_MS });

/** Returns the last backup of the database if another sidecar made it, as far as the database answers. */
export async function* databaseFindings(config: SidecarConfig): AsyncGenerator<Finding, DoneElsewhere | null> {
  const { database } = config;
  const name = databaseName(database);
  const what = 'database';
  if (database.provider === 'sqlite' && !existsSync(database.file)) {
    yield { verdict: 'ok', what, found: `${name} is made by the first start` };
    return null;
  }
  const reasons: Reason[] = [];
  const log = (_level: string, message: string, fields: object): void => {
    reasons.push({ line: eventLine(message, fields), trouble: 'trouble' in fields ? fields.trouble : null });
  };
  let engine: Engine | null = null;
  try {
    const limits = { poolSize: 2, statementTimeoutMs: ANSWER_MS };
    engine = await openEngine({ ...database, ...limits }, { log, now: Date.now });
    const askedAt = Date.now();
    const facts = await engine.inspect(bounds());
    yield { verdict: 'ok', what, found: `${name} answers (${facts.version})` };
    yield* obstacleFindings(await engine.ping(bounds()));
    yield clockFinding(facts, (askedAt + Date.now()) / 2, config.api.maxSkewSeconds);
    yield* queueFindings(engine);
    yield* revokedFindings(engine, config);
    yield* sidecarFindings(engine, config);
    return await new BackupLease(engine).lastElsewhere(readId(config.dataFolder) ?? '');
  } catch (error) {
    const [reason] = reasons;
    const found = `${name}: ${reason?.line ?? (error as Error).message}`;
    const advice = error instanceof ApiError ? adviceFor(database, reason?.trouble) : 'docs/databases.md';
    yield { verdict: 'fail', what, found, advice };
    return null;
  } finally {
    await engine?.close();
  }
}

const CLUSTER_ADVICE = 'start the nodes that are down; if they are lost for good: docs/cluster.md';
const STANDBY_ADVICE =
  'start the standby, or take it out of synchronous_standby_names of the primary (docs/cluster.md)';

/** Line of the engine, and its kind of trouble. */
interface Reason {
  readonly line: string;
  readonly trouble: unknown;
}

function adviceFor({ provider }: DatabaseConfig, trouble: unknown): string {
  if (trouble === 'cluster') return CLUSTER_ADVICE;
  return provider === 'sqlite'
    ? 'fix `database.file` of the configuration, or restore a backup'
    : 'start the database, or fix `database` of the configuration';
}

const OBSTACLES: Readonly<Record<WriteObstacle, readonly [found: string, advice: string]>> = {
  standby: ['it follows another server, and takes no writes', 'let database.url name the primary'],
  readOnly: ['it was set read-only, and takes no writes', 'find out why, then switch that off'],
  notReady: ['this node has no majority (wsrep_ready OFF), and takes no writes', CLUSTER_ADVICE],
  noStandby: ['no synchronous standby confirms, so no write is acknowledged', STANDBY_ADVICE],
};

function* obstacleFindings(obstacle: WriteObstacle | null): Generator<Finding> {
  if (obstacle === null) return;
  const [found, advice] = OBSTACLES[obstacle];
  yield { verdict: 'fail', what: 'database', found, advice };
}

function clockFinding({ time }: DatabaseFacts, now: number, maxSkewSeconds: number): Finding {
  const what = 'clock';
  const shown = new Date(now).toISOString();
  if (time === null) {
    return {
      verdict: 'ok',
      what,
      found: `${shown}; compare it: game servers more than ${maxSkewSeconds} s off are refused`,
    };
  }
  const difference = Math.abs(time - now);
  if (difference <= MAX_CLOCK_DIFFERENCE_MS) return { verdict: 'ok', what, found: `${shown}, as the database's` };
  const found = `${shown}, and the database's ${new Date(time).toISOString()}: ${Math.round(difference / 1000)} s apart`;
  return {
    verdict: 'warn',
    what,
    found,
    advice: 'switch on NTP on both machines; a wrong clock here refuses game servers',
  };
}

/** Others by their rows: whether one lives is seen only by a sidecar that runs. */
async function* sidecarFindings(engine: Engine, { dataFolder, keys }: SidecarConfig): AsyncGenerator<Finding> {
  const own = readId(dataFolder);
  const ownKeys = keyMarks(keys);
  for (const { instance, box, url, version, seenAt } of await engine.cluster.listSidecars(bounds())) {
    if (instance === own) continue;
    const what = 'sidecar';
    const name = `${instance} on ${box} (${url}, ${version})`;
    yield { verdict: 'ok', what, found: `${name}, last seen ${new Date(seenAt).toISOString()} by its own clock` };
    const others = await readKeyMarks(engine, instance, bounds());
    const unequal = others === null ? [] : unequalKeys(ownKeys, others);
    if (unequal.length === 0) continue;
    const found = `${name} has other keys or secrets: ${unequal.join(', ')}; a game server that moves there is refused`;
    yield { verdict: 'warn', what, found, advice: 'copy `keys` and secrets/ from one box to all, and restart them' };
  }
}

/** Keys that this configuration still lists. */
async function* revokedFindings(engine: Engine, { keys }: SidecarConfig): AsyncGenerator<Finding> {
  for (const { kid, revokedAt } of await engine.cluster.listRevoked(bounds())) {
    if (!keys.some((key) => key.kid === kid)) continue;
    const found = `${kid} was revoked on ${new Date(revokedAt).toISOString()} and is refused`;
    const advice = `keys revoke ${kid} removes it; keys new makes one of another name`;
    yield { verdict: 'warn', what: 'key', found, advice };
  }
}

async function* queueFindings(engine: Engine): AsyncGenerator<Finding> {
  const what = 'queue';
  const letters = await engine.queues.countLetters(bounds());
  if (letters === 0) return;
  yield { verdict: 'warn', what, found: `${letters} dead letters`, advice: 'dead-letters list; then retry or discard' };
}
