import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { SidecarRow } from '#engine/cluster/cluster-calls.ts';
import type { Engine } from '#engine/engine.ts';
import { openEngine } from '#engine/open.ts';
import { Neighbours } from '#sidecar/cluster/neighbours.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import { Instance } from '#sidecar/security/instance.ts';
import { foundByDoctor } from '../support/found-by-doctor.ts';
import { keyOf, secretOf, startSidecar, type TestSidecar } from '../support/sidecar.ts';
import { SignedClient } from '../support/signed-client.ts';
import { newDatabase, type TestDatabase } from '../support/test-database.ts';
import { testFolder } from '../support/test-folder.ts';

let database: TestDatabase;
let first: TestSidecar;
/** Another process's view of the same rows. */
let engine: Engine;
const bounds = () => ({ deadline: performance.now() + 10_000 });

beforeAll(async () => {
  database = await newDatabase();
  first = await startSidecar({ database });
  engine = await openEngine(loadConfig(first.configFile, {}).database, { log: () => {}, now: Date.now });
});

afterAll(async () => {
  await engine.close();
  await first.stop();
  await database.drop();
});

interface Health {
  readonly instance: string;
  readonly sidecars: readonly Record<string, unknown>[];
}
const rows = () => engine.cluster.listSidecars(bounds());

it('each sidecar says who it is, and which others use its database', async () => {
  const second = await startSidecar({ database });
  const ids = [first, second].map(({ client }) => client.must<Health>('health').then(({ instance }) => instance));
  const [one, two] = await Promise.all(ids);
  expect(one).not.toBe(two);
  const open = await fetch(`${first.address}/v1/health`);
  expect(await open.json()).toEqual({ status: 'ok', time: expect.any(Number), instance: one });
  await vi.waitFor(async () => expect(await rows()).toHaveLength(2), 10_000);
  const told = (await rows()).find(({ instance }) => instance === two);
  expect(told).toMatchObject({ box: hostname(), url: second.address, version: expect.stringMatching(/^\d+\.\d+/) });
  expect(await foundByDoctor(first.configFile, 'sidecar')).toEqual([
    { verdict: 'ok', what: 'sidecar', found: expect.stringContaining(`${two} on ${hostname()}`) },
  ]);
  await second.stop();
  expect((await rows()).map(({ instance }) => instance)).toEqual([one]);
});

it('doctor names a box whose keys or secrets are others', async () => {
  const rotated = keyOf('local', {
    secret: secretOf('new'),
    previousSecretFile: 'before',
    previousUntil: '2100-01-01T00:00:00Z',
  });
  const folder = testFolder();
  writeFileSync(join(folder, 'before'), secretOf('local'), { mode: 0o600 });
  const second = await startSidecar({ database, folder, config: { keys: [rotated, keyOf('second')] } });
  const { instance } = await second.client.must<Health>('health');
  const found = expect.stringMatching(new RegExp(`^${instance} .* has other keys or secrets: local, second; `));
  const warned = { verdict: 'warn', what: 'sidecar', found, advice: expect.stringContaining('copy `keys`') };
  await vi.waitFor(async () => expect(await foundByDoctor(first.configFile, 'sidecar')).toContainEqual(warned), 10_000);
  await second.stop();
  expect(await foundByDoctor(first.configFile, 'sidecar')).toEqual([]);
  expect(await engine.transfer.readMark(`sidecar_keys:${instance}`, bounds())).toBeNull();
});

it('failures lock a key out at one sidecar alone', async () => {
  const limits = { authFailuresPerMinute: 2, lockoutSeconds: 90 };
  const second = await startSidecar({ database, config: { limits } });
  const wrong = new SignedClient({ address: second.address, kid: 'local', secret: secretOf('wrong') });
  const statuses: number[] = [];
  for (const client of [wrong, wrong, second.client, first.client]) {
    statuses.push((await client.call('health', {})).httpStatus);
  }
  expect(statuses).toEqual([401, 401, 429, 200]);
  await wrong.close();
  await second.stop();
});

it('each sidecar counts the requests of a key by itself', async () => {
  const now = Date.now();
  const options = { database, now: () => now, config: { limits: { perKeyPerSecond: 2 } } };
  const [second, third] = [await startSidecar(options), await startSidecar(options)];
  const statuses: number[] = [];
  for (const { client } of [second, second, second, third, third, third]) {
    statuses.push((await client.call('health', {})).httpStatus);
  }
  expect(statuses).toEqual([200, 200, 429, 200, 200, 429]);
  await Promise.all([second.stop(), third.stop()]);
});

it('a sidecar sees others by their rows alone, whatever their clocks say, and knows a twin', async () => {
  let monotonic = 0;
  const told: unknown[] = [];
  const neighbours = new Neighbours({
    instance: Instance.open(testFolder()),
    engine,
    version: '1.0.0',
    keys: new Map(),
    now: () => 5,
    monotonicNow: () => monotonic,
    log: (_level, _message, fields) => told.push(fields),
  });
  const { instance } = neighbours;
  const other: SidecarRow = { instance: 'other', box: 'b', url: 'u', version: '2', seenAt: 86_400_000 };
  expect(await engine.cluster.putSidecar(other, null, bounds())).toBe(true);
  expect(await engine.cluster.putSidecar({ ...other, seenAt: 1 }, null, bounds())).toBe(false);
  const beat = async () => {
    neighbours.begin('http://here');
    await neighbours.settled();
  };
  await beat();
  const seen = () => neighbours.others().find((one) => one.instance === 'other');
  expect(seen()).toMatchObject({ ...other, isAlive: true });
  monotonic += 34_999;
  await beat();
  expect(seen()?.isAlive).toBe(true);
  monotonic += 1;
  expect(seen()?.isAlive).toBe(false);
  expect(await engine.cluster.putSidecar({ ...other, seenAt: 2 }, 86_400_000, bounds())).toBe(true);
  await beat();
  expect(seen()?.isAlive).toBe(true);

  const own = (await rows()).find((row) => row.instance === instance);
  expect(await engine.cluster.putSidecar({ ...other, instance, seenAt: 77 }, own?.seenAt ?? 0, bounds())).toBe(true);
  await beat();
  expect(neighbours.instance).not.toBe(instance);
  expect(told).toMatchObject([{ before: instance, id: neighbours.instance, otherBox: 'b' }]);
  await beat();
  expect(told).toHaveLength(1);
  expect((await rows()).map((row) => row.instance)).toEqual(expect.arrayContaining([instance, neighbours.instance]));
  await neighbours.stop();
});
