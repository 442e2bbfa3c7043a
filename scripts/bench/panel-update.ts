// Lines of the game server that an update of the panel loses, at 200 lines a second: `node scripts/bench/panel-update.ts`.
// Needs dist/ (`npm run build`), which it updates to under another version.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { KeeperRig } from '../../test/panel/support/keeper-rig.ts';
import { PASSWORD, PanelClient } from '../../test/panel/support/panel.ts';
import { makeRelease, newReleaseKey } from '../../test/panel/support/releases.ts';
import { fakeLine } from '../../test/panel/support/server-rig.ts';
import { freePort } from '../servers/free-port.ts';

const VERSION = '9.0.0';
const EVERY_MS = 5;
const LOOK_MS = 200;
/** Lines before and after the update. */
const MARGIN_MS = 3000;

interface View {
  readonly status: { readonly state: string } | null;
  readonly updates: { readonly version: string; readonly isApplying: boolean };
}

const key = newReleaseKey();
const port = await freePort();
const keeper = new KeeperRig({
  config: { panel: { port, updates: { keys: [key.publicKey] } } },
  settings: { startLine: fakeLine('--ticks', String(EVERY_MS)) },
});
const client = new PanelClient(`http://127.0.0.1:${port}`);

async function view(): Promise<View | null> {
  const answer = await client.get<View>('/api/updates').catch(() => null);
  return answer?.status === 200 ? answer.body : null;
}

async function until(isDone: (now: View | null) => boolean): Promise<void> {
  while (!isDone(await view())) await pause(LOOK_MS);
}

try {
  const inbox = join(keeper.folder, 'data/updates/inbox');
  mkdirSync(inbox, { recursive: true });
  writeFileSync(join(inbox, 'release.zip'), makeRelease({ version: VERSION, key }));
  await keeper.makeOwner();
  keeper.start();
  while (keeper.panels().length === 0) await pause(LOOK_MS);
  await client.login('owner', PASSWORD);
  await client.post('/api/updates/download');
  await until((now) => now?.status?.state === 'succeeded');
  await pause(MARGIN_MS);
  const startedMs = performance.now();
  await client.post('/api/updates/apply');
  await until((now) => now?.updates.version === VERSION && !now.updates.isApplying);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  await pause(MARGIN_MS);
  const ticks = keeper.ticks();
  const lost = (ticks.at(-1) ?? 0) - new Set(ticks).size;
  console.log(JSON.stringify({ lines: ticks.length, lost, twice: ticks.length - new Set(ticks).size, seconds }));
} finally {
  await keeper.stop();
}
