import { randomBytes } from 'node:crypto';
import type { TestDatabase } from '../test-database.ts';
import { GALERA_NODES, type GaleraCluster } from './galera.ts';

let cluster: GaleraCluster | null = null;
/** Sidecars that were started one by one on each database. */
const starts = new WeakMap<TestDatabase, number>();

/** From now on databases of tests are on these nodes, and sidecars of theirs are spread over them. */
export function spreadOver(nodes: GaleraCluster): void {
  cluster = nodes;
}

export function clusterUnderTest(): GaleraCluster | null {
  return cluster;
}

/** An empty database that every node has. */
export async function databaseOf({ nodes, urlOf }: GaleraCluster): Promise<TestDatabase> {
  const name = `sidecar_${randomBytes(6).toString('hex')}`;
  const run = async (statement: string): Promise<void> => void (await nodes[0]?.admin(statement));
  await run(`CREATE DATABASE ${name}`);
  // A node may be behind the one that has answered.
  for (const node of nodes) await node.admin('SET SESSION wsrep_sync_wait = 1', 'SELECT 1');
  return {
    settings: { provider: 'mysql', url: urlOf(name) },
    drop: () => run(`DROP DATABASE IF EXISTS ${name}`),
  };
}

/** The settings with the node at this position in front; without a cluster as they are. */
export function atNode<Settings extends object>(settings: Settings, position: number): Settings {
  if (cluster === null) return settings;
  const { pathname } = new URL(String((settings as { url?: unknown }).url).replace(/@[^/]*/, '@all'));
  return { ...settings, url: cluster.urlOf(pathname.slice(1), position % GALERA_NODES) };
}

/**
 * `database` of sidecar.json for each sidecar that one start of a test means: three on a cluster, each at its own node, if the
 * test spreads them; else one at the node after that of the last start.
 */
export function placesOf(database: TestDatabase | null, isSpread: boolean): (object | undefined)[] {
  if (cluster === null || database === null) return [database?.settings];
  if (isSpread) return Array.from({ length: GALERA_NODES }, (_, position) => atNode(database.settings, position));
  const before = starts.get(database) ?? 0;
  starts.set(database, before + 1);
  return [atNode(database.settings, before)];
}
