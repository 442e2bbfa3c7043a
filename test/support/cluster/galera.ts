import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import type { Place, ServerEngine } from '#scripts/servers/engine.ts';
import { freePort } from '#scripts/servers/free-port.ts';
import * as mysql from '#scripts/servers/mysql.ts';
import { PrivateServer } from '#scripts/servers/private-server.ts';
import { groupFolder, groupPasswords, makeServerFolder, nodePlace } from './node-place.ts';

export const GALERA_NODES = 3;

export interface GaleraNode {
  /** An ordinary account that owns the database `sidecar`, and may make others. */
  readonly url: string;
  readonly port: number;
  readonly server: PrivateServer;
  /** As if its machine was lost: killed, and left with an empty folder of data. */
  lose(): Promise<void>;
  /** Runs statements as the administrator; the rows of the last one. */
  admin(...statements: readonly string[]): Promise<readonly unknown[][]>;
}

export interface GaleraCluster {
  readonly nodes: readonly GaleraNode[];
  /** URL of all nodes, with that of index `first` in front. */
  urlOf(database: string, first?: number): string;
  /** Resolves when every given node sees that many members, has their state, and takes statements. */
  isWhole(members?: number, nodes?: readonly GaleraNode[]): Promise<void>;
  /**
   * Starts a node, and meanwhile does as docs/cluster.md tells an owner to if the others see each other and yet have no majority: on a
   * machine that stalls for longer than `evs.suspect_timeout` they lose each other while this one, the third, is lost.
   */
  bringBack(node: GaleraNode): Promise<void>;
  stop(): Promise<void>;
}

/** Ports of a node besides that of SQL: the group's own traffic, and transfers of its state. */
interface GroupPorts {
  readonly group: number;
  readonly increments: number;
  readonly state: number;
}

/**
 * Quick to notice a dead node, which takes 5 s by default. `evs.inactive_timeout` stays at its 15 s: with 4 s, a node that came back
 * empty while the others still suspected its former self left both of them alone, without a primary component.
 */
const TIMES = ['evs.suspect_timeout=PT2S', 'evs.keepalive_period=PT0.5S'];
const SIZES = { innodb_buffer_pool_size: '32M', innodb_log_file_size: '16M', max_connections: '120' };

function settingsOf(ports: GroupPorts, hasOwnTimes: boolean): Record<string, string> {
  const provider = [
    `gmcast.listen_addr=tcp://127.0.0.1:${ports.group}`,
    `ist.recv_addr=127.0.0.1:${ports.increments}`,
    ...['gcache.size=16M', 'gcache.page_size=8M', 'socket.ssl=NO'],
    ...(hasOwnTimes ? TIMES : []),
  ];
  return {
    ...SIZES,
    binlog_format: 'ROW',
    innodb_autoinc_lock_mode: '2',
    wsrep_on: 'ON',
    wsrep_provider: '/usr/lib/galera/libgalera_smm.so',
    wsrep_provider_options: provider.join(';'),
    wsrep_node_address: `127.0.0.1:${ports.group}`,
    wsrep_sst_receive_address: `127.0.0.1:${ports.state}`,
    wsrep_sst_method: 'rsync',
    wsrep_cluster_name: 'test',
  };
}

async function groupPorts(): Promise<GroupPorts> {
  return { group: await freePort(), increments: await freePort(), state: await freePort() };
}

const dataOf = ({ folder }: Place): string => join(folder, 'data');

/** A node begins a new cluster at the first start of the first one, and otherwise joins; the state comes from the others. */
function nodeEngine(isFirst: boolean, members: string): ServerEngine {
  let isBeginning = isFirst;
  return {
    ...mysql,
    prepare: async (place) => (isFirst ? mysql.prepare(place) : makeServerFolder(dataOf(place))),
    programs(place: Place) {
      const address = { wsrep_cluster_address: isBeginning ? 'gcomm://' : `gcomm://${members}` };
      // Accounts are made once, and replicated.
      const accounts = isBeginning ? {} : { init_file: '' };
      return mysql.programs({ ...place, settings: { ...place.settings, ...address, ...accounts } }).map((program) => ({
        ...program,
        // It answers when it has the state of the others, which a busy machine sends slowly.
        startTimeoutMs: 240_000,
        // On a busy machine the others may be heard of too late.
        isPassing: (reason) => reason.includes('failed to reach primary view'),
        async onFirstReady() {
          isBeginning = false;
        },
      }));
    },
  };
}

/** Three nodes of MariaDB Galera on the loopback, in one transaction group. `hasOwnTimes` false: with the time-outs of Galera itself. */
export async function startGalera(
  say: (line: string) => void = () => {},
  { hasOwnTimes = true } = {},
): Promise<GaleraCluster> {
  const installation = await mysql.provide(say);
  const folder = groupFolder();
  const passwords = groupPasswords();
  const ports = await Promise.all(Array.from({ length: GALERA_NODES }, groupPorts));
  const members = ports.map(({ group }) => `127.0.0.1:${group}`).join(',');
  const nodes: GaleraNode[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map(({ server }) => server.discard()));
  };
  try {
    for (const [position, own] of ports.entries()) {
      const place = await nodePlace(folder, `node${position + 1}`, installation, passwords, {
        ...settingsOf(own, hasOwnTimes),
        wsrep_node_name: `node${position + 1}`,
      });
      const engine = nodeEngine(position === 0, members);
      const server = new PrivateServer(engine, place, () => {});
      nodes.push(galeraNode(place, server));
      await engine.prepare(place);
      await server.start();
    }
    // A node lets clients in before it has the state of the others.
    await isWhole(nodes, GALERA_NODES);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    nodes,
    urlOf: (database, first = 0) => listUrl([...nodes.slice(first), ...nodes.slice(0, first)], database),
    isWhole: (count = GALERA_NODES, among = nodes) => isWhole(among, count),
    bringBack: (node) =>
      bringBack(
        node,
        nodes.filter((other) => other !== node),
      ),
    stop,
  };
}

function galeraNode(place: Place, server: PrivateServer): GaleraNode {
  const { url, adminUrl } = mysql.urls(place);
  return {
    url,
    port: place.port,
    server,
    async lose() {
      await server.kill();
      rmSync(dataOf(place), { recursive: true });
      makeServerFolder(dataOf(place));
    },
    async admin(...statements) {
      const connection = await createConnection({ uri: adminUrl, connectTimeout: 3000, rowsAsArray: true });
      // A node may end while it is asked.
      connection.on('error', () => {});
      try {
        let rows: readonly unknown[][] = [];
        for (const statement of statements) rows = (await connection.query<RowDataPacket[][]>(statement))[0];
        return rows;
      } finally {
        connection.destroy();
      }
    },
  };
}

function listUrl(nodes: readonly GaleraNode[], database: string): string {
  const url = new URL(`${nodes[0]?.url}`);
  const hosts = nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return `mysql://${url.username}:${url.password}@${hosts}/${database}`;
}

const LOOK_MS = 5_000;

async function bringBack({ server }: GaleraNode, others: readonly GaleraNode[]): Promise<void> {
  let isStarting = true;
  const started = server.start().finally(() => {
    isStarting = false;
  });
  for (let looks = 0; isStarting; ) {
    await Promise.race([started, wait(LOOK_MS)]);
    looks = (await haveNoMajority(others)) ? looks + 1 : 0;
    // A group that forms again is without one for a moment.
    if (looks === 3) await others[0]?.admin("SET GLOBAL wsrep_provider_options = 'pc.bootstrap=YES'");
  }
  await started;
}

/** Whether they see each other, so that nobody else can have the majority, and all say that they have none. */
async function haveNoMajority(nodes: readonly GaleraNode[]): Promise<boolean> {
  const found = await Promise.all(nodes.map(statusOf));
  return found.every(
    (status) => status.get('wsrep_cluster_status') === 'non-Primary' && Number(status.get('wsrep_cluster_size')) > 1,
  );
}

/** Empty if it does not answer. */
async function statusOf(node: GaleraNode): Promise<ReadonlyMap<string, string>> {
  const status = await node.admin("SHOW GLOBAL STATUS LIKE 'wsrep_%'").catch(() => []);
  return new Map(status.map(([name, value]) => [String(name), String(value)]));
}

const SETTLE_MS = 60_000;

async function isWhole(nodes: readonly GaleraNode[], members: number): Promise<void> {
  const wanted = new Map([
    ['wsrep_cluster_size', String(members)],
    ['wsrep_cluster_status', 'Primary'],
    ['wsrep_local_state_comment', 'Synced'],
    ['wsrep_ready', 'ON'],
  ]);
  const end = performance.now() + SETTLE_MS;
  for (const node of nodes) {
    for (;;) {
      const found = await statusOf(node);
      if ([...wanted].every(([name, value]) => found.get(name) === value)) break;
      if (performance.now() > end) throw new Error(`a node of the cluster is not ready: ${JSON.stringify([...found])}`);
    }
  }
}
