import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Dice } from '#support/buffered/dice.ts';
import { type GaleraCluster, type GaleraNode, startGalera } from '#support/cluster/galera.ts';
import { type SidecarProcess, spawnSidecar } from '#support/sidecar.ts';
import { testFolder } from '#support/test-folder.ts';
import { seedOf } from '#support/test-seed.ts';
import { Ledger, NOTHING_WRONG, TABLES } from './acknowledged.ts';

const FAULTS = Number(process.env.CLUSTER_FAULTS ?? 3);
const MS_PER_FAULT = 90_000;
const CALLERS = 6;
/** The time of a request, and what a busy machine adds. */
const MAX_CALL_MS = 15_000;
/** Faults between two looks at everything. */
const FAULTS_PER_LOOK = 10;

const dice = new Dice(seedOf('CLUSTER_SEED'));
let cluster: GaleraCluster;
const sidecars: SidecarProcess[] = [];
const folders = [testFolder(), testFolder(), testFolder()];

const spawn = (position: number): Promise<SidecarProcess> =>
  spawnSidecar(folders[position] as string, {
    database: { provider: 'mysql', file: undefined, url: cluster.urlOf('sidecar', position) },
    limits: { perKeyPerSecond: 1_000_000, perAddressPerSecond: 1_000_000 },
  });

beforeAll(async () => {
  cluster = await startGalera();
  for (const position of [0, 1, 2]) sidecars[position] = await spawn(position);
  await (sidecars[0] as SidecarProcess).client.must('schema.sync', { namespace: 'game', schema: { tables: TABLES } });
}, 180_000);

afterAll(async () => {
  await Promise.all(sidecars.map((sidecar) => sidecar.kill('SIGTERM')));
  await cluster?.stop();
});

/** Each does its harm to one node or sidecar, and repairs it. */
const KINDS: Readonly<Record<string, (position: number, forMs: number) => Promise<void>>> = {
  async kill(position, forMs) {
    const { server } = node(position);
    await server.kill();
    await wait(forMs);
    await server.start();
  },
  async freeze(position, forMs) {
    const { server } = node(position);
    server.pause();
    await wait(forMs);
    server.resume();
  },
  async cut(position, forMs) {
    await node(position).admin("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=1'");
    await wait(forMs);
    await node(position).admin("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=0'");
  },
  async sidecar(position, forMs) {
    await (sidecars[position] as SidecarProcess).kill();
    await wait(forMs / 4);
    sidecars[position] = await spawn(position);
  },
};

function node(position: number): GaleraNode {
  return cluster.nodes[position] as GaleraNode;
}

it(
  `loses no acknowledged write and doubles none through ${FAULTS} faults`,
  async () => {
    const ledger = new Ledger();
    const client = (position: number) => (sidecars[position % sidecars.length] as SidecarProcess).client;
    await ledger.prepare(client(0));
    for (let done = 0; done < FAULTS; done += FAULTS_PER_LOOK) {
      const callers = Array.from({ length: CALLERS }, (_, caller) =>
        ledger.load((attempt) => client(caller + attempt), `look${done}-${caller}`),
      );
      for (let fault = done; fault < Math.min(FAULTS, done + FAULTS_PER_LOOK); fault += 1) {
        const kind = dice.pick(Object.keys(KINDS));
        const [position, forMs] = [dice.int(0, 2), dice.int(500, 8000)];
        await ledger.more(20);
        await KINDS[kind]?.(position, forMs);
        await cluster.isWhole();
        await ledger.more(20);
      }
      ledger.end();
      await Promise.all(callers);
      for (const position of [0, 1, 2]) expect(await ledger.judge(client(position))).toEqual(NOTHING_WRONG);
      ledger.begin();
    }
    expect(ledger.longestCallMs).toBeLessThan(MAX_CALL_MS);
    console.log(
      `${FAULTS} faults: ${JSON.stringify(ledger.calls)}, longest call ${Math.round(ledger.longestCallMs)} ms`,
    );
  },
  FAULTS * MS_PER_FAULT + 60_000,
);
