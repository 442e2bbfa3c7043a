import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { secretOf, startSidecar, type TestSidecar } from '../support/sidecar.ts';
import { countOf, SampleSite, surplusCents } from './sample-server.ts';

const READY = /characters; try rp-richest/;

describe('the sample on the standalone server', { timeout: 60_000 }, () => {
  let sidecar: TestSidecar;
  let site: SampleSite;
  beforeEach(async () => {
    sidecar = await startSidecar();
    site = new SampleSite();
    site.connectTo(sidecar.address, sidecar.secret);
  });
  afterEach(async () => {
    await site.remove();
    await sidecar.stop();
  });

  it('answers its commands, and stops cleanly', async () => {
    site.setOptions({ characters: 300, actionsPerSecond: 0 });
    const server = site.start();
    await server.line(READY);

    expect(await server.command('rp-richest', /\d,\d{3}\.\d\d /)).toMatch(
      / {2}(police|medic|mechanic|taxi|unemployed) /,
    );
    expect(await server.command('rp-find ZOE', /Zoë/)).toMatch(/\d\.\d\d/);
    await server.command(`rp-find "o'brien"`, /O'Brien/);
    await server.command('rp-find "no such person"', /nobody/);
    await server.command('rp-pay 1 2 12.50', /paid .* 12\.50$/);
    await server.command('rp-pay 1 2 999999999.99', /refused: .* has not got 999,999,999\.99$/);
    await server.command('rp-pay 1 999 1', /there is no character 999/);
    for (const wrong of ['1 2 -5', '1 2 0.00', '1 2 1.234', '1 2', '1 x 5', '1.5 2 5']) {
      await server.command(`rp-pay ${wrong}`, /rp-pay FROM TO AMOUNT/);
    }
    await server.command('rp-pay 1 1 5', /nobody pays himself/);
    expect(await server.command('rp-stats', /audit/)).toMatch(/audit ok: 300 characters hold/);
    // A batch that was refused has left nothing behind.
    expect(server.lines.join('\n')).toMatch(/bank_transactions +1$/m);
    expect(await server.command('rp-jobs', /^police/)).toMatch(/^police +\d+ +[\d,]+\.\d\d$/);

    const asked = performance.now();
    expect(await server.quit()).toBe(0);
    // Contract section 9.
    expect(performance.now() - asked).toBeLessThan(15_000);
  });

  it('plays an evening of everything, and finds its money in order', async () => {
    site.setOptions({ characters: 60, actionsPerSecond: 300, summarySeconds: 2 });
    const server = site.start();
    const summary = await server.line(/last 2 s: /);
    for (const what of ['joined', 'saved', 'transfers', 'messages', 'pages read', 'paychecks']) {
      expect(summary).toMatch(new RegExp(`${what} \\d`));
    }
    expect(summary).toMatch(/audit ok: 60 characters/);
    await server.line(/statistics ok: [1-9][\d,]* saves of [1-9]\d* players/);
    expect(summary).not.toMatch(/errors/);
    expect(await server.quit()).toBe(0);
  });

  it('is loud about a cent that comes from nowhere', async () => {
    site.setOptions({ characters: 20, actionsPerSecond: 0, summarySeconds: 1 });
    const server = site.start();
    await server.line(/last 1 s: .*audit ok/);
    const plant = (money: number) =>
      sidecar.client.must('update', {
        namespace: 'game',
        table: 'characters',
        filter: { field: 'id', op: 'eq', value: 7 },
        inc: { money },
      });
    await plant(0.01);
    await server.line(/!!! AUDIT MISMATCH of 0\.01 !!!/);
    await plant(-0.03);
    await server.command('rp-stats', /!!! AUDIT MISMATCH of -0\.02 !!!/);
    await plant(0.02);
    await server.command('rp-stats', /audit ok/);
  });

  it('is loud about statistics that are missing or there twice', async () => {
    site.setOptions({ characters: 20, actionsPerSecond: 200, summarySeconds: 1 });
    const server = site.start();
    await server.line(/statistics ok: [1-9]/);
    const plant = (saves: number) =>
      sidecar.client.must('update', { namespace: 'stats', table: 'players', all: true, inc: { saves } });
    await plant(-1);
    await server.line(/!!! STATISTICS MISMATCH !!! saves \d+ acknowledged, \d+ stored/);
    await plant(2);
    await server.command('rp-stats', /!!! STATISTICS MISMATCH !!!/);
  });

  it('prints the line to add where the namespace of its statistics is not allowed, and runs on without', async () => {
    site.connectTo(sidecar.address, sidecar.secret, ['game']);
    site.setOptions({ characters: 20, actionsPerSecond: 100, summarySeconds: 1 });
    const server = site.start();
    await server.line(/last 1 s: .*saved.*audit ok: 20 .* \| statistics are not kept$/);
    const line = '"namespaces": ["game", "stats"]';
    expect(server.lines.filter((said) => said.includes(line))).toHaveLength(1);
    site.connectTo(sidecar.address, sidecar.secret, JSON.parse(`{${line}}`).namespaces);
    await server.command('db-reload', /./);
    await server.command('restart sample_roleplay', READY);
    await server.line(/statistics ok: [1-9]/);
  });

  it('is populated once, also when it is killed in the middle again and again', async () => {
    const characters = 4000;
    site.setOptions({ characters, actionsPerSecond: 0 });
    for (let round = 1; round <= 3; round += 1) {
      const server = site.start();
      await server.line(/creating/);
      await untilMore(round * 500);
      await server.kill();
    }
    const killedAt = await countOf(sidecar.client, 'characters');
    expect(killedAt).toBeLessThan(characters);

    for (const pattern of [/there already, creating the rest/, READY]) {
      const server = site.start();
      await server.line(pattern);
      await server.line(READY);
      await server.kill();
    }
    expect(await countOf(sidecar.client, 'characters')).toBe(characters);
    const filter = { field: 'id', op: 'lte', value: characters };
    expect(await countOf(sidecar.client, 'characters', filter)).toBe(characters);
    expect(await surplusCents(sidecar.client)).toBe(0);
  });

  /** Until the table has so many rows; it may not exist yet. */
  async function untilMore(rows: number): Promise<void> {
    for (;;) {
      const answer = await sidecar.client.call('count', { namespace: 'game', table: 'characters' });
      if (answer.ok && Number(answer.result.count) >= rows) return;
    }
  }
});

describe('the sample without a sidecar', { timeout: 60_000 }, () => {
  it('waits, says so once, stops when told, and begins when it comes', async () => {
    const site = new SampleSite();
    const first = await startSidecar();
    const port = Number(new URL(first.address).port);
    await first.stop();
    site.connectTo(first.address, secretOf('local'));
    site.setOptions({ characters: 20, actionsPerSecond: 50 });
    const impatient = site.start();
    await impatient.line(/waiting for the database/);
    const asked = performance.now();
    expect(await impatient.quit()).toBe(0);
    // Contract section 9.
    expect(performance.now() - asked).toBeLessThan(15_000);

    const server = site.start();
    await server.line(/waiting for the database/);
    const sidecar = await startSidecar({ config: { api: { port } } });
    try {
      await server.command('db-reload', /./);
      await server.line(READY);
      expect(server.lines.filter((line) => /waiting for/.test(line)).length).toBeLessThanOrEqual(2);
      expect(server.lines.length).toBeLessThan(40);
      expect(await server.quit()).toBe(0);
    } finally {
      await site.remove();
      await sidecar.stop();
    }
  });
});
