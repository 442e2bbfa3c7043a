import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { PanelUpdatesAnswer } from '#panel/shapes/updates.ts';
import { freePort } from '#scripts/servers/free-port.ts';
import { KeeperRig } from '#test/panel/support/keeper-rig.ts';
import { PASSWORD, PanelClient } from '#test/panel/support/panel.ts';
import { makeRelease, newReleaseKey } from '#test/panel/support/releases.ts';
import { fakeLine } from '#test/panel/support/server-rig.ts';

const VERSION = '9.0.0';
/** Between two lines of the game server: 200 a second. */
const EVERY_MS = 5;
const LOOK_MS = 200;
/** Lines before and after the update. */
const MARGIN_MS = 3000;

export interface UpdateFigure {
  readonly lines: number;
  readonly lost: number;
  readonly twice: number;
  /** From the order to the commit. */
  readonly seconds: number;
}

/** Lines of the game server that an update of the panel loses. Needs dist/, which it updates to under another version. */
export async function measureUpdate(): Promise<UpdateFigure> {
  const key = newReleaseKey();
  const port = await freePort();
  const keeper = new KeeperRig({
    config: { panel: { port, updates: { keys: [key.publicKey] } } },
    settings: { startLine: fakeLine('--ticks', String(EVERY_MS)) },
  });
  try {
    const inbox = join(keeper.folder, 'data/updates/inbox');
    mkdirSync(inbox, { recursive: true });
    writeFileSync(join(inbox, 'release.zip'), makeRelease({ version: VERSION, key }));
    await keeper.makeOwner();
    keeper.start();
    while (keeper.panels().length === 0) await pause(LOOK_MS);
    const seconds = await update(new PanelClient(`http://127.0.0.1:${port}`));
    await pause(MARGIN_MS);
    const ticks = keeper.ticks();
    const different = new Set(ticks).size;
    return { lines: ticks.length, lost: (ticks.at(-1) ?? 0) - different, twice: ticks.length - different, seconds };
  } finally {
    await keeper.stop();
  }
}

async function update(client: PanelClient): Promise<number> {
  const until = async (isDone: (now: PanelUpdatesAnswer) => boolean) => {
    for (;;) {
      const answer = await client.get<PanelUpdatesAnswer>('/api/updates').catch(() => null);
      if (answer?.status === 200 && isDone(answer.body)) return;
      await pause(LOOK_MS);
    }
  };
  await client.login('owner', PASSWORD);
  await client.post('/api/updates/download');
  await until(({ status }) => status?.state === 'succeeded');
  await pause(MARGIN_MS);
  const startedMs = performance.now();
  await client.post('/api/updates/apply');
  await until(({ updates }) => updates.version === VERSION && !updates.isApplying);
  return (performance.now() - startedMs) / 1000;
}
