import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeReleaseFolder, packRelease } from '../panel/support/releases.ts';
import { RELEASE_KEY as key, NEXT, POLL, stopUpdateRigs, UpdateRig } from './update-rig.ts';

const SLOW_MS = 180_000;

/** Statements in place of the start of a release, which chooses them by `TEST_DEED`; without it the release is good. */
const DEEDS = {
  hangs: 'setInterval(() => {}, 1e6);',
  'dies after five seconds':
    "console.error('it broke'); await import('./sidecar.js'); setTimeout(() => process.exit(7), 5000);",
  'ends at once': "console.error('it broke'); process.exit(3);",
  'spoils panel.sqlite': withFile("writeFileSync(file, 'spoilt'.repeat(1000));"),
  'raises its format and ends': withFile("new Database(file).pragma('user_version = 99'); process.exit(1);"),
};
type Deed = keyof typeof DEEDS;

/** Folder of the one release of all cases, unpacked. */
let release: string;

beforeAll(() => {
  const cases = Object.entries(DEEDS).map(([deed, start]) => `case '${deed}': {\n${start}\nbreak;\n}`);
  const start = `switch (process.env.TEST_DEED) {\n${cases.join('\n')}\ndefault: await import('./sidecar.js');\n}`;
  release = makeReleaseFolder({ version: NEXT, key, start });
}, SLOW_MS);

afterEach(stopUpdateRigs);

function withFile(deed: string): string {
  return `
    const { writeFileSync } = await import('node:fs');
    const { dirname, join } = await import('node:path');
    const { default: Database } = await import('better-sqlite3');
    const file = join(dirname(process.argv[process.argv.indexOf('--config') + 1]), 'data/panel.sqlite');
    ${deed}
    await import('./sidecar.js');`;
}

describe('an update of the panel', { timeout: SLOW_MS }, () => {
  it('puts the release in place while the game server runs on, and goes back when asked', async () => {
    const rig = await UpdateRig.start(packRelease(release));
    const { version: old } = (await rig.view())?.updates ?? {};
    await rig.download();
    expect((await rig.view())?.updates).toMatchObject({ staged: { version: NEXT, isSigned: true, fault: null } });
    await rig.apply();
    const { status, updates } = await rig.ended();
    expect(status).toMatchObject({ state: 'succeeded', outcome: { version: NEXT, outcome: 'committed' } });
    expect(updates).toMatchObject({ version: NEXT, previous: old });
    expect(updates.history).toMatchObject([{ from: old, to: NEXT, outcome: 'committed' }]);
    await rig.ranOn();
    await rig.client.post('/api/command', { text: 'hello' });
    await expect.poll(() => rig.keeper.console().some((line) => line.endsWith('out did hello'))).toBe(true);

    expect((await rig.client.post('/api/updates/rollback')).status).toBe(200);
    await expect.poll(async () => (await rig.view())?.updates.version, POLL).toBe(old);
    expect((await rig.ended()).updates).toMatchObject({ version: old, previous: NEXT });
    await rig.ranOn();
  });

  it.each<[Deed, Record<string, string>, RegExp]>([
    ['hangs', { TEST_READY_MS: '4000' }, /did not serve within 4 s/],
    ['dies after five seconds', { TEST_PROVEN_MS: '60000' }, /ended with code 7/],
    ['ends at once', {}, /ended with code 3/],
  ])('is taken back if the release %s', async (deed, environment, reason) => {
    const rig = await UpdateRig.start(release, { ...environment, TEST_DEED: deed });
    await rig.apply();
    const { status, updates } = await rig.ended();
    expect(status).toMatchObject({ state: 'failed', outcome: { version: NEXT, outcome: 'takenBack' } });
    expect(updates.version).not.toBe(NEXT);
    expect(updates.history[0]?.reason).toMatch(reason);
    if (DEEDS[deed].includes('broke')) expect(updates.history[0]?.lines).toContain('it broke');
    await rig.ranOn();
  });

  it.each<Deed>(['spoils panel.sqlite', 'raises its format and ends'])(
    'brings the file back if the release %s',
    async (deed) => {
      const rig = await UpdateRig.start(release, { TEST_DEED: deed });
      await rig.apply();
      // The session of before is still there.
      const { status, updates } = await rig.ended();
      expect(status?.state).toBe('failed');
      expect(updates.history).toMatchObject([{ outcome: 'takenBack' }]);
      await rig.ranOn();
    },
  );

  it('taken back after three ends by itself within ten minutes', async () => {
    const rig = await UpdateRig.start(release);
    await rig.apply();
    await rig.ended();
    for (const round of [1, 2, 3]) {
      process.kill(rig.keeper.sidecar(), 'SIGKILL');
      await expect.poll(() => rig.keeper.panels().length, POLL).toBe(2 + round);
    }
    // It is written down once the panel serves.
    const takenBack = { outcome: 'takenBack', from: expect.any(String) };
    await expect.poll(async () => (await rig.view())?.updates.history[0], POLL).toMatchObject(takenBack);
    expect((await rig.view())?.updates.version).not.toBe(NEXT);
    await rig.ranOn();
  });
});
