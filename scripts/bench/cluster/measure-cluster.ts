import { startServers } from '#scripts/servers/start-servers.ts';
import { startGalera } from '#support/cluster/galera.ts';
import { removeTestFolders } from '#support/test-folder.ts';
import { measureOneBox, type OneBoxFigure } from './measure-one-box.ts';
import { measureNodeDeath, measureSidecarDeath, type PauseFigure } from './measure-pauses.ts';
import {
  measureGaleraNonce,
  measurePostgresNonce,
  measureSpread,
  type NonceFigure,
  type SpreadFigure,
} from './measure-rates.ts';

export interface ClusterFigures {
  readonly spread: readonly SpreadFigure[];
  readonly nonces: readonly NonceFigure[];
  /** With the time-outs of Galera itself. */
  readonly nodeDeath: PauseFigure;
  /** With `evs.suspect_timeout` of 2 s. */
  readonly quickNodeDeath: PauseFigure;
  readonly sidecarDeath: PauseFigure;
  /** Empty without BENCH_BEFORE. */
  readonly oneBox: readonly OneBoxFigure[];
}

/** Three nodes of Galera on this machine, and one PostgreSQL. */
export async function measureCluster(seconds: number): Promise<ClusterFigures> {
  const galera = await measureGalera(seconds);
  let figures: Omit<ClusterFigures, 'oneBox'>;
  const servers = await startServers({ engines: ['postgres'], durable: true, say: console.log });
  try {
    if (servers.postgres === undefined) throw new Error(`PostgreSQL cannot be had: ${servers.missing.postgres}`);
    const postgres = await measurePostgresNonce(servers.postgres.url, seconds);
    figures = { ...galera, nonces: [postgres, galera.nonce] };
  } finally {
    await servers.stop();
  }
  return { ...figures, oneBox: await measureOneBox(seconds) };
}

async function measureGalera(seconds: number) {
  const withOwnTimes = await measureQuickGalera(seconds);
  const cluster = await startGalera(console.log, { hasOwnTimes: false });
  try {
    const nodeDeath = await measureNodeDeath(cluster, seconds);
    console.log(nodeDeath);
    return { ...withOwnTimes, nodeDeath };
  } finally {
    await cluster.stop();
    removeTestFolders();
  }
}

/** Nodes that notice a dead one within 2 s: only `quickNodeDeath` depends on it. */
async function measureQuickGalera(seconds: number) {
  const cluster = await startGalera(console.log);
  try {
    const nonce = await measureGaleraNonce(cluster, seconds);
    console.log(nonce);
    const sidecarDeath = await measureSidecarDeath(cluster, seconds);
    console.log(sidecarDeath);
    const spread = await measureSpread(cluster, seconds);
    console.log(spread);
    const quickNodeDeath = await measureNodeDeath(cluster, seconds);
    console.log(quickNodeDeath);
    return { nonce, sidecarDeath, spread, quickNodeDeath };
  } finally {
    await cluster.stop();
    removeTestFolders();
  }
}
