import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { PanelUpdatesAnswer } from '#panel/shapes/updates.ts';
import { freePort } from '#scripts/servers/free-port.ts';
import { QUICK_KEEPER } from '#support/sidecar-program.ts';
import { KeeperRig } from '../panel/support/keeper-rig.ts';
import { PASSWORD, PanelClient } from '../panel/support/panel.ts';
import { makeRelease, newReleaseKey, type ReleaseOptions } from '../panel/support/releases.ts';
import { fakeLine, isGone } from '../panel/support/server-rig.ts';

const SLOW_MS = 180_000;
const POLL = { timeout: 90_000, interval: 50 };

const key = newReleaseKey();
const rigs: UpdateRig[] = [];
let good: Uint8Array;

beforeAll(() => {
  good = makeRelease({ version: '9.0.0', key });
}, SLOW_MS);

afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.keeper.stop();
});

/** A keeper with a running game server, and an owner who is signed in. */
class UpdateRig {
  readonly keeper: KeeperRig;
  readonly client: PanelClient;
  server = 0;

  private constructor(keeper: KeeperRig, port: number) {
    this.keeper = keeper;
    this.client = new PanelClient(`http://127.0.0.1:${port}`);
  }

  static async start(release: Uint8Array, environment: Record<string, string> = {}): Promise<UpdateRig> {
    const port = await freePort();
    const keeper = new KeeperRig({
      program: QUICK_KEEPER,
      config: { panel: { port, updates: { keys: [key.publicKey] } } },
      settings: { startLine: fakeLine('--ticks', '5') },
    });
    const rig = new UpdateRig(keeper, port);
    rigs.push(rig);
    keeper.makeOwner();
    const inbox = join(keeper.folder, 'data/updates/inbox');
    mkdirSync(inbox, { recursive: true });
    writeFileSync(join(inbox, 'release.zip'), release);
    keeper.environment = { ...environment, SIDECAR_PANEL_PORT: String(port) };
    keeper.start();
    rig.server = await keeper.server();
    await expect.poll(() => keeper.panels().length, POLL).toBe(1);
    await rig.client.login('owner', PASSWORD);
    return rig;
  }

  /** null while the panel is away. */
  async view(): Promise<PanelUpdatesAnswer | null> {
    const answer = await this.client.get<PanelUpdatesAnswer>('/api/updates').catch(() => null);
    return answer?.status === 200 ? answer.body : null;
  }

  async download(): Promise<void> {
    expect((await this.client.post('/api/updates/download')).status).toBe(200);
    await expect.poll(async () => (await this.view())?.status?.state, POLL).toBe('succeeded');
  }

  async apply(): Promise<void> {
    expect(await this.client.post('/api/updates/apply')).toMatchObject({ status: 200 });
  }

  /** The last job of updates, once it has ended and no change is open. */
  async ended(): Promise<PanelUpdatesAnswer> {
    const state = async () => {
      const view = await this.view();
      const isOver = view?.updates.isApplying === false && view.status?.endedAt !== null;
      return isOver ? view : null;
    };
    let found: PanelUpdatesAnswer | null = null;
    await expect.poll(async () => (found = await state()), POLL).not.toBeNull();
    return found as unknown as PanelUpdatesAnswer;
  }

  /** The same game server runs, and each of its lines is in the console once. */
  async ranOn(): Promise<void> {
    const { keeper, server } = this;
    expect(isGone(server)).toBe(false);
    expect(keeper.servers()).toEqual([server]);
    const before = keeper.ticks().length;
    await expect.poll(() => keeper.ticks().length, POLL).toBeGreaterThan(before + 20);
    const ticks = keeper.ticks();
    expect(ticks).toEqual(ticks.map((_, index) => index + 1));
  }
}

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

  it('refuses a release that was changed after it was verified', async () => {
    const rig = await UpdateRig.start(good);
    await rig.download();
    appendFileSync(join(rig.keeper.folder, 'data/releases/9.0.0/sidecar.js'), '\n// swapped');
    await rig.apply();
    expect((await rig.ended()).status).toMatchObject({ state: 'failed', error: 'update.invalid' });
    expect(rig.keeper.panels()).toHaveLength(1);
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

describe('kill -9 during an update', { timeout: SLOW_MS }, () => {
  it('of the sidecar, at any moment, leaves the old release or the new one and the same game server', async () => {
    const rig = await UpdateRig.start(good);
    await rig.download();
    for (const delayMs of [0, 5, 20]) {
      if ((await rig.view())?.updates.version === '9.0.0') break;
      const sidecar = rig.keeper.sidecar();
      const panels = rig.keeper.panels().length;
      await rig.apply();
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      process.kill(sidecar, 'SIGKILL');
      await expect.poll(() => rig.keeper.panels().length, POLL).toBeGreaterThan(panels);
      const { updates, status } = await rig.ended();
      expect(['succeeded', 'failed']).toContain(status?.state);
      expect(updates.version === '9.0.0').toBe(status?.state === 'succeeded');
      await rig.ranOn();
    }
  });

  it('of the new release while it is on trial takes it back', async () => {
    const rig = await UpdateRig.start(good, { TEST_PROVEN_MS: '600000' });
    await rig.download();
    await rig.apply();
    await expect.poll(() => rig.keeper.panels().length, POLL).toBe(2);
    expect((await rig.view())?.updates).toMatchObject({ version: '9.0.0', isApplying: true });
    expect(await rig.client.post('/api/server/stop')).toMatchObject({ status: 409, body: { error: 'update.busy' } });
    process.kill(rig.keeper.sidecar(), 'SIGKILL');
    const { status, updates } = await rig.ended();
    expect(status?.state).toBe('failed');
    expect(updates.history[0]?.reason).toMatch(/SIGKILL/);
    await rig.ranOn();
  });

  it('of the keeper on trial: the next start runs the old release, and has ended the server that was left', async () => {
    const rig = await UpdateRig.start(good, { TEST_PROVEN_MS: '600000' });
    await rig.download();
    await rig.apply();
    await expect.poll(() => rig.keeper.panels().length, POLL).toBe(2);
    rig.keeper.process.kill('SIGKILL');
    await once(rig.keeper.process, 'exit');
    rig.keeper.start();
    await expect.poll(async () => (await rig.view())?.updates.history[0]?.outcome, POLL).toBe('takenBack');
    expect((await rig.ended()).updates.version).not.toBe('9.0.0');
    const next = await rig.keeper.server(2);
    expect([isGone(rig.server), isGone(next)]).toEqual([true, false]);
    expect(existsSync(join(rig.keeper.folder, 'data/updates/keeper.json'))).toBe(true);
  });
});
