import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, it } from 'vitest';
import { Dice } from '#support/buffered/dice.ts';
import { Box } from '#support/cluster/box.ts';
import { type PostgresPair, type PostgresServer, startPostgresPair } from '#support/cluster/postgres-pair.ts';
import { seedOf } from '#support/test-seed.ts';
import { TABLES } from './acknowledged.ts';
import { type Fault, FaultCampaign } from './fault-campaign.ts';

const FAULTS = Number(process.env.CLUSTER_FAULTS ?? 3);
/** A second attempt would find the rows of the first. */
const NO_RETRY = 0;
const MS_PER_FAULT = 120_000;

const dice = new Dice(seedOf('CLUSTER_SEED'));
let pair: PostgresPair;
let boxes: Box[];
/** The primary first; they change places. */
let servers: [PostgresServer, PostgresServer];
/** A primary that was replaced runs again; a sidecar that has not looked since may read there (docs/cluster.md, "Split brain"). */
let isReplacedAlive = false;

beforeAll(async () => {
  pair = await startPostgresPair({ isSynchronous: true });
  servers = [pair.primary, pair.standby];
  const database = { provider: 'postgres', url: pair.urlOf('sidecar', pair.primary, pair.standby) };
  boxes = [0, 1].map(() => new Box(database));
  for (const box of boxes) await box.start();
  await boxes[0]?.client.must('schema.sync', { namespace: 'game', schema: { tables: TABLES } });
}, 120_000);

afterAll(async () => {
  await Promise.all((boxes ?? []).map((box) => box.kill('SIGTERM')));
  await pair?.stop();
});

const briefly = (): Promise<void> => wait(dice.int(200, 4000));

/** The standby becomes the primary, and the old primary its standby. */
async function changePlaces(): Promise<void> {
  servers = [servers[1], servers[0]];
  await pair.rebuild(servers[1]);
}

const KINDS: Readonly<Record<string, Fault>> = {
  async promotion() {
    await servers[0].server.kill();
    await briefly();
    await pair.promote(servers[1]);
    await briefly();
    await changePlaces();
  },
  /** The old primary only hung, and goes on beside the new one. */
  async zombiePrimary() {
    servers[0].server.pause();
    await briefly();
    await pair.promote(servers[1]);
    await briefly();
    isReplacedAlive = true;
    servers[0].server.resume();
    await briefly();
    await changePlaces();
    isReplacedAlive = false;
  },
  async restart() {
    await servers[0].server.kill();
    await briefly();
    await servers[0].server.start();
  },
  async freeze() {
    const { server } = dice.pick(servers);
    server.pause();
    await briefly();
    server.resume();
  },
  async standbyAway() {
    await servers[1].server.kill();
    await briefly();
    await servers[1].server.start();
  },
};

async function isWhole(): Promise<void> {
  const state = "SELECT 1 FROM pg_stat_replication WHERE application_name = 'standby' AND state = 'streaming'";
  while ((await servers[0].admin(state)).length === 0) await wait(20);
}

async function isLeaseHeld(namespace: string): Promise<boolean> {
  const client = new Client({ connectionString: servers[0].url });
  await client.connect();
  try {
    return (await client.query('SELECT 1 FROM _locks WHERE namespace = $1', [namespace])).rows.length > 0;
  } finally {
    await client.end();
  }
}

it(
  `loses no acknowledged write and doubles none through ${FAULTS} faults`,
  { timeout: FAULTS * MS_PER_FAULT + 60_000, retry: NO_RETRY },
  () =>
    new FaultCampaign({
      ...{ faults: FAULTS, dice, boxes, kinds: KINDS, isWhole, isLeaseHeld },
      mayReadOld: () => isReplacedAlive,
    }).run(),
);
