import { setTimeout as wait } from 'node:timers/promises';
import type { GaleraCluster } from '#support/cluster/galera.ts';
import { Rig, SECRET } from '#support/connector-rig.ts';
import { callApi } from '../call-api.ts';
import { declareItems, insertedRow } from '../engines/items.ts';
import { type BenchSidecar, withSidecars } from './bench-sidecar.ts';

const LANES = 6;
const BEFORE_MS = 1500;
/** Calls that must be answered after the fault. */
const AFTER = 300;
const NAMESPACE = 'game';
const PAGE = 1000;

export interface PauseFigure {
  readonly longestMs: number;
  readonly acknowledged: number;
  readonly lost: number;
  readonly doubled: number;
}

/** Sends one insert with a key; true if it was acknowledged. */
type Insert = (tag: string, lane: number) => Promise<boolean>;

const payloadOf = (tag: string) => ({
  ...{ namespace: NAMESPACE, table: 'inserts', rows: [{ ...insertedRow(0), name: tag }] },
  idempotencyKey: tag,
});

/** Longest call at the sidecars of two nodes while the third is killed. */
export async function measureNodeDeath(cluster: GaleraCluster, seconds: number): Promise<PauseFigure> {
  const databases = [0, 1].map((first) => ({ provider: 'mysql', url: cluster.urlOf('sidecar', first) }));
  const victim = cluster.nodes[2]?.server;
  return withSidecars(databases, seconds, async (sidecars) => {
    const [first] = sidecars as [BenchSidecar];
    await declareItems(first.port, first.secret, NAMESPACE);
    const insert: Insert = (tag, lane) => {
      const { port, secret } = sidecars[lane % sidecars.length] as BenchSidecar;
      return callApi(port, secret, '/v1/data/insert', payloadOf(tag)).then(
        () => true,
        () => false,
      );
    };
    const figure = await underLoad('node', insert, async () => void (await victim?.kill()), first);
    await victim?.start();
    await cluster.isWhole();
    return figure;
  });
}

/** Longest call through a connector of two addresses while the sidecar at the first is killed. */
export async function measureSidecarDeath(cluster: GaleraCluster, seconds: number): Promise<PauseFigure> {
  const databases = [0, 1].map((first) => ({ provider: 'mysql', url: cluster.urlOf('sidecar', first) }));
  return withSidecars(
    databases,
    seconds,
    async (sidecars) => {
      const [near, far] = sidecars as [BenchSidecar, BenchSidecar];
      await declareItems(near.port, near.secret, NAMESPACE);
      const rig = new Rig({ url: [near, far].map(({ port }) => `http://127.0.0.1:${port}`) });
      try {
        await rig.command('db-reload');
        const insert: Insert = async (tag) => (await rig.run('insert', payloadOf(tag))).State === 'ok';
        return await underLoad('sidecar', insert, async () => near.kill(), far);
      } finally {
        await rig.stop();
      }
    },
    SECRET,
  );
}

async function underLoad(
  name: string,
  insert: Insert,
  fault: () => Promise<void>,
  survivor: BenchSidecar,
): Promise<PauseFigure> {
  const acknowledged: string[] = [];
  let [longestMs, isOver] = [0, false];
  const lane = async (number: number): Promise<void> => {
    for (let round = 0; !isOver; round += 1) {
      const tag = `${name}-${number}-${round}`;
      const startedMs = performance.now();
      if (await insert(tag, number)) acknowledged.push(tag);
      longestMs = Math.max(longestMs, performance.now() - startedMs);
    }
  };
  const lanes = Array.from({ length: LANES }, (_, number) => lane(number));
  await wait(BEFORE_MS);
  await fault();
  const wanted = acknowledged.length + AFTER;
  while (acknowledged.length < wanted) await wait(20);
  isOver = true;
  await Promise.all(lanes);
  const stored = await storedTags(survivor, name);
  const times = new Map<string, number>();
  for (const tag of stored) times.set(tag, (times.get(tag) ?? 0) + 1);
  return {
    longestMs,
    acknowledged: acknowledged.length,
    lost: acknowledged.filter((tag) => !times.has(tag)).length,
    doubled: [...times.values()].filter((count) => count > 1).length,
  };
}

async function storedTags({ port, secret }: BenchSidecar, name: string): Promise<string[]> {
  const tags: string[] = [];
  for (let last = 0; ; ) {
    const filter = {
      and: [
        { field: 'id', op: 'gt', value: last },
        { field: 'name', op: 'startsWith', value: `${name}-` },
      ],
    };
    const page = { namespace: NAMESPACE, table: 'inserts', fields: ['id', 'name'], filter, limit: PAGE };
    const find = { ...page, sort: [{ field: 'id', dir: 'asc' }] };
    const { rows } = (await callApi(port, secret, '/v1/data/find', find)) as { rows: { id: number; name: string }[] };
    tags.push(...rows.map((row) => row.name));
    last = rows.at(-1)?.id ?? last;
    if (rows.length < PAGE) return tags;
  }
}
