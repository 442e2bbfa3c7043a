import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeRelease, type ReleaseOptions } from '../panel/support/releases.ts';
import { RELEASE_KEY as key, POLL, stopUpdateRigs, UpdateRig } from './update-rig.ts';

const SLOW_MS = 180_000;

let good: Uint8Array;

beforeAll(() => {
  good = makeRelease({ version: '9.0.0', key });
}, SLOW_MS);

afterEach(stopUpdateRigs);

function bad(options: Omit<ReleaseOptions, 'version' | 'key'>): Uint8Array {
  return makeRelease({ version: '9.0.0', key, ...options });
}

describe('an update of the panel', { timeout: SLOW_MS }, () => {
  it('puts the release in place while the game server runs on, and goes back when asked', async () => {
    const rig = await UpdateRig.start(good);
    const { version: old } = (await rig.view())?.updates ?? {};
    await rig.download();
    expect((await rig.view())?.updates).toMatchObject({ staged: { version: '9.0.0', isSigned: true, fault: null } });
    await rig.apply();
    const { status, updates } = await rig.ended();
    expect(status).toMatchObject({ state: 'succeeded', outcome: { version: '9.0.0', outcome: 'committed' } });
    expect(updates).toMatchObject({ version: '9.0.0', previous: old });
    expect(updates.history).toMatchObject([{ from: old, to: '9.0.0', outcome: 'committed' }]);
    await rig.ranOn();
    await rig.client.post('/api/command', { text: 'hello' });
    await expect.poll(() => rig.keeper.console().some((line) => line.endsWith('out did hello'))).toBe(true);

    expect((await rig.client.post('/api/updates/rollback')).status).toBe(200);
    await expect.poll(async () => (await rig.view())?.updates.version, POLL).toBe(old);
    expect((await rig.ended()).updates).toMatchObject({ version: old, previous: '9.0.0' });
    await rig.ranOn();
  });

  it.each([
    ['hangs', { TEST_READY_MS: '4000' }, 'setInterval(() => {}, 1e6);', /did not serve within 4 s/],
    [
      'dies after five seconds',
      { TEST_PROVEN_MS: '60000' },
      "console.error('it broke'); await import('./sidecar.js'); setTimeout(() => process.exit(7), 5000);",
      /ended with code 7/,
    ],
    ['ends at once', {}, "console.error('it broke'); process.exit(3);", /ended with code 3/],
  ])('is taken back if the release %s', async (_what, environment, start, reason) => {
    const rig = await UpdateRig.start(bad({ start }), environment);
    await rig.download();
    await rig.apply();
    const { status, updates } = await rig.ended();
    expect(status).toMatchObject({ state: 'failed', outcome: { version: '9.0.0', outcome: 'takenBack' } });
    expect(updates.version).not.toBe('9.0.0');
    expect(updates.history[0]?.reason).toMatch(reason);
    if (start.includes('broke')) expect(updates.history[0]?.lines).toContain('it broke');
    await rig.ranOn();
  });

  it.each([
    ['spoils panel.sqlite', "writeFileSync(file, 'spoilt'.repeat(1000));"],
    ['raises its format and ends', "new Database(file).pragma('user_version = 99'); process.exit(1);"],
  ])('brings the file back if the release %s', async (_what, deed) => {
    const start = `
      const { writeFileSync } = await import('node:fs');
      const { dirname, join } = await import('node:path');
      const { default: Database } = await import('better-sqlite3');
      const file = join(dirname(process.argv[process.argv.indexOf('--config') + 1]), 'data/panel.sqlite');
      ${deed}
      await import('./sidecar.js');`;
    const rig = await UpdateRig.start(bad({ start }));
    await rig.download();
    await rig.apply();
    // The session of before is still there.
    const { status, updates } = await rig.ended();
    expect(status?.state).toBe('failed');
    expect(updates.history).toMatchObject([{ outcome: 'takenBack' }]);
    await rig.ranOn();
  });

  it('taken back after three ends by itself within ten minutes', async () => {
    const rig = await UpdateRig.start(good);
    await rig.download();
    await rig.apply();
    await rig.ended();
    for (const round of [1, 2, 3]) {
      process.kill(rig.keeper.sidecar(), 'SIGKILL');
      await expect.poll(() => rig.keeper.panels().length, POLL).toBe(2 + round);
    }
    // It is written down once the panel serves.
    const takenBack = { outcome: 'takenBack', from: expect.any(String) };
    await expect.poll(async () => (await rig.view())?.updates.history[0], POLL).toMatchObject(takenBack);
    expect((await rig.view())?.updates.version).not.toBe('9.0.0');
    await rig.ranOn();
  });
});
