import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, it } from 'vitest';
import { Dice } from '#support/buffered/dice.ts';
import { Box } from '#support/cluster/box.ts';
import { type GaleraCluster, type GaleraNode, startGalera } from '#support/cluster/galera.ts';
import { seedOf } from '#support/test-seed.ts';
import { TABLES } from './acknowledged.ts';
import { type Fault, FaultCampaign } from './fault-campaign.ts';

const FAULTS = Number(process.env.CLUSTER_FAULTS ?? 3);
/** A second attempt would find the rows of the first. */
const NO_RETRY = 0;
const MS_PER_FAULT = 90_000;

const dice = new Dice(seedOf('CLUSTER_SEED'));
let cluster: GaleraCluster;
let boxes: Box[];

beforeAll(async () => {
  cluster = await startGalera();
  boxes = [0, 1, 2].map((first) => new Box({ provider: 'mysql', url: cluster.urlOf('sidecar', first) }));
  for (const box of boxes) await box.start();
  await boxes[0]?.client.must('schema.sync', { namespace: 'game', schema: { tables: TABLES } });
}, 180_000);

afterAll(async () => {
  await Promise.all((boxes ?? []).map((box) => box.kill('SIGTERM')));
  await cluster?.stop();
});

/** A random node is away for a moment. */
const away = (leave: (node: GaleraNode) => unknown, comeBack: (node: GaleraNode) => unknown): Fault => {
  return async () => {
    const node = dice.pick(cluster.nodes);
    await leave(node);
    await wait(dice.int(200, 4000));
    await comeBack(node);
  };
};
const isolate = (value: 0 | 1) => (node: GaleraNode) =>
  node.admin(`SET GLOBAL wsrep_provider_options = 'gmcast.isolate=${value}'`);

const KINDS: Readonly<Record<string, Fault>> = {
  kill: away(
    ({ server }) => server.kill(),
    (node) => cluster.bringBack(node),
  ),
  /** Ends in order, and is sent the changes that it missed. */
  increments: away(
    ({ server }) => server.stop(),
    (node) => cluster.bringBack(node),
  ),
  /** Comes back without any data, and is sent the whole state. */
  transfer: away(
    (node) => node.lose(),
    (node) => cluster.bringBack(node),
  ),
  freeze: away(
    ({ server }) => server.pause(),
    ({ server }) => server.resume(),
  ),
  cut: away(isolate(1), isolate(0)),
};

async function isLeaseHeld(namespace: string): Promise<boolean> {
  const held = `SELECT 1 FROM sidecar._locks WHERE namespace = '${namespace}'`;
  return (await dice.pick(cluster.nodes).admin(held)).length > 0;
}

const OPTIONS = { timeout: FAULTS * MS_PER_FAULT + 60_000, retry: NO_RETRY };

it(`loses no acknowledged write and doubles none through ${FAULTS} faults`, OPTIONS, () => {
  const isWhole = () => cluster.isWhole();
  return new FaultCampaign({ faults: FAULTS, dice, boxes, kinds: KINDS, isWhole, isLeaseHeld }).run();
});
