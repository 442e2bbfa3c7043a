import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { secretOf, startSidecar } from '../support/sidecar.ts';
import { spawnSidecar } from '../support/sidecar-process.ts';
import type { SignedClient } from '../support/signed-client.ts';
import { testFolder } from '../support/test-folder.ts';
import { countOf, countUnfinished, SampleSite, storedSaves, surplusCents } from './sample-server.ts';

const LIVELY = { characters: 40, actionsPerSecond: 300, summarySeconds: 3600 };
/** As on a database without transactions. */
const STEPWISE = { ...LIVELY, stepwise: 1 };
const QUIET = { ...LIVELY, actionsPerSecond: 0 };
const READY = /characters; try rp-richest/;
const MORE_THAN_TEN_MINUTES_MS = 11 * 60_000;

/** Live statistics play in sample.test.ts. */
const BUFFERED = { writeBehind: { namespaces: { stats: {} } } };

describe('money and buffered statistics', { timeout: 90_000 }, () => {
  const cleanUp: (() => unknown)[] = [];
  afterEach(async () => {
    for (const step of cleanUp.splice(0).reverse()) await step();
  });

  /** A quiet evening finishes what is left; then every transfer is over and every cent is where it belongs. */
  async function expectOrder(site: SampleSite, client: SignedClient): Promise<void> {
    site.setOptions(QUIET);
    const server = site.start();
    await server.line(READY);
    expect(await client.must('health', {})).toMatchObject({ writeBuffer: { enabled: true, halted: false } });
    expect(await countUnfinished(client)).toBe(0);
    expect(await surplusCents(client)).toBe(0);
    expect(await server.command('rp-stats', /audit/i)).toMatch(/audit ok: 40 characters/);
    const statistics = await statisticsOf(server);
    expect(statistics).toMatch(/statistics ok: [1-9][\d,]* saves/);
    expect(await storedSaves(client)).toBe(Number(/ok: ([\d,]+) saves/.exec(statistics)?.[1]?.replaceAll(',', '')));
    const vehicles = {
      and: [
        { field: 'item', op: 'isNull', value: false },
        { field: 'state', op: 'eq', value: 'done' },
      ],
    };
    expect(await countOf(client, 'vehicles')).toBe(await countOf(client, 'bank_transactions', vehicles));
    expect(await server.quit()).toBe(0);
  }

  it.each([
    ['step by step', STEPWISE],
    ['in one batch', LIVELY],
  ])(
    'stays exact %s when the game server is killed and goes on eleven minutes later, again and again',
    async (way, options) => {
      let laterMs = 0;
      const sidecar = await startSidecar({ config: BUFFERED, now: () => Date.now() + laterMs });
      cleanUp.push(() => sidecar.stop());
      const site = new SampleSite();
      cleanUp.push(() => site.remove());
      site.connectTo(sidecar.address, sidecar.secret);
      site.setOptions(options);
      let interrupted = 0;
      for (let round = 1; round <= 4; round += 1) {
        const server = site.start();
        await server.line(READY);
        await untilMoreTransfers(sidecar.client, 8 + Math.floor(Math.random() * 20));
        if (round === 1) await untilSaved(sidecar.client);
        await server.kill();
        interrupted += await countUnfinished(sidecar.client);
        laterMs += MORE_THAN_TEN_MINUTES_MS;
      }
      // A batch has happened or not: it leaves nothing to resume.
      if (way === 'in one batch') expect(interrupted).toBe(0);
      else expect(interrupted).toBeGreaterThan(0);
      await expectOrder(site, sidecar.client);
    },
  );

  it('stays exact when the sidecar is killed in the middle of transfers and comes back', async () => {
    const folder = testFolder();
    let sidecar = await spawnSidecar(folder, BUFFERED);
    cleanUp.push(() => sidecar.kill());
    const api = { port: Number(new URL(sidecar.address).port) };
    const site = new SampleSite();
    cleanUp.push(() => site.remove());
    site.connectTo(sidecar.address, secretOf('local'));
    site.setOptions(LIVELY);
    const server = site.start();
    await server.line(READY);
    for (let round = 1; round <= 2; round += 1) {
      await untilMoreTransfers(sidecar.client, 15);
      const from = server.lines.length;
      await sidecar.kill();
      await server.line(/the database does not answer/, { from });
      sidecar = await spawnSidecar(folder, { ...BUFFERED, api });
      await server.command('db-reload', /./);
      await server.line(/the database answers again/, { from });
    }
    await server.command('rp-stats', /audit ok: 40 characters/);
    expect(await server.quit()).toBe(0);
    await expectOrder(site, sidecar.client);
  });
});

/** They begin on their own, maybe a moment after the evening. */
async function statisticsOf(server: ReturnType<SampleSite['start']>): Promise<string> {
  for (;;) {
    const line = await server.command('rp-stats', /statistics/i);
    if (!line.includes('not kept yet')) return line;
  }
}

/** Statistics are saved once a second, which is longer than some of the rounds; their table may come a moment later. */
async function untilSaved(client: SignedClient): Promise<void> {
  const rows = { namespace: 'stats', table: 'players' };
  while (!(await client.call('count', rows)).ok || (await storedSaves(client)) === 0) await sleep(5);
}

/** Until so many more transfers have been opened than there are now. */
async function untilMoreTransfers(client: SignedClient, more: number): Promise<void> {
  const now = await countOf(client, 'bank_transactions');
  while ((await countOf(client, 'bank_transactions')) < now + more) await sleep(5);
}
