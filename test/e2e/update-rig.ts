import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { PanelUpdatesAnswer } from '#panel/shapes/updates.ts';
import { freePort } from '#scripts/servers/free-port.ts';
import { QUICK_KEEPER } from '#support/sidecar-program.ts';
import { KeeperRig } from '../panel/support/keeper-rig.ts';
import { PASSWORD, PanelClient } from '../panel/support/panel.ts';
import { newReleaseKey, placeRelease } from '../panel/support/releases.ts';
import { fakeLine, isGone } from '../panel/support/server-rig.ts';

export const POLL = { timeout: 90_000, interval: 200 };
/** Version of every release. */
export const NEXT = '9.0.0';
/** Signs every release that a rig trusts. */
export const RELEASE_KEY = newReleaseKey();

const STARTED: UpdateRig[] = [];

/** Also those whose start has failed. */
export async function stopUpdateRigs(): Promise<void> {
  for (const rig of STARTED.splice(0)) await rig.keeper.stop();
}

/** A keeper with a running game server, and an owner who is signed in. */
export class UpdateRig {
  readonly keeper: KeeperRig;
  readonly client: PanelClient;
  server = 0;

  private constructor(keeper: KeeperRig, port: number) {
    this.keeper = keeper;
    this.client = new PanelClient(`http://127.0.0.1:${port}`);
  }

  /** @param release its ZIP, put into the inbox, or the folder of an unpacked one */
  static async start(release: Uint8Array | string, environment: Record<string, string> = {}): Promise<UpdateRig> {
    const port = await freePort();
    const keeper = new KeeperRig({
      program: QUICK_KEEPER,
      config: { panel: { port, updates: { keys: [RELEASE_KEY.publicKey] } } },
      settings: { startLine: fakeLine('--ticks', '5') },
    });
    const rig = new UpdateRig(keeper, port);
    STARTED.push(rig);
    keeper.makeOwner();
    rig.#place(release);
    keeper.environment = { ...environment, SIDECAR_PANEL_PORT: String(port) };
    keeper.start();
    rig.server = await keeper.server();
    await expect.poll(() => keeper.panels().length, POLL).toBe(1);
    await rig.client.login('owner', PASSWORD);
    return rig;
  }

  #place(release: Uint8Array | string): void {
    const data = join(this.keeper.folder, 'data');
    if (typeof release === 'string') {
      placeRelease(release, join(data, 'releases', NEXT));
      return;
    }
    const inbox = join(data, 'updates/inbox');
    mkdirSync(inbox, { recursive: true });
    writeFileSync(join(inbox, 'release.zip'), release);
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
    // A sidecar judges its releases again after each start.
    await expect.poll(async () => (await this.view())?.updates.staged?.version, POLL).toBe(NEXT);
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
    const ended = expect.poll(async () => (found = await state()), POLL).not.toBeNull();
    await ended.catch((error: Error) => {
      throw new Error(`${error.message}\n${this.keeper.lastOutput()}`);
    });
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
