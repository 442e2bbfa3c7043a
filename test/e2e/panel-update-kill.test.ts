import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { PanelUpdatesAnswer } from '#panel/shapes/updates.ts';
import type { Step } from '#support/kill-at-step.ts';
import { withPreload } from '#support/preloads.ts';
import { testFolder } from '#support/test-folder.ts';
import { makeRelease } from '../panel/support/releases.ts';
import { isGone } from '../panel/support/server-rig.ts';
import { NEXT, POLL, RELEASE_KEY, stopUpdateRigs, UpdateRig } from './update-rig.ts';

const SLOW_MS = 180_000;

const killFile = join(testFolder(), 'kill');
let rig: UpdateRig;

afterAll(stopUpdateRigs);

/** Changes to the release while the step is watched for. Resolves when it was reached, and a panel serves after it. */
async function changeUntil(step: Step): Promise<PanelUpdatesAnswer> {
  const { client } = rig;
  // A sidecar judges its releases again after each start.
  await expect.poll(async () => (await rig.view())?.updates.staged?.version, POLL).toBe(NEXT);
  writeFileSync(`${killFile}.new`, JSON.stringify(step));
  renameSync(`${killFile}.new`, killFile);
  // The answer is lost if the sidecar ends first.
  const answer = await client.post('/api/updates/apply').catch(() => null);
  if (answer !== null) expect(answer.status, answer.text).toBe(200);
  await expect.poll(() => existsSync(killFile), { ...POLL, interval: 10 }).toBe(false);
  if (step.in === 'keeper') await startAgain();
  return await rig.ended();
}

/** The keeper was killed: its sidecar ends at once, and the next start ends the game server that was left. */
async function startAgain(): Promise<void> {
  const { keeper } = rig;
  const [panels, servers] = [keeper.panels().length, keeper.servers().length];
  await expect.poll(() => keeper.process.signalCode, POLL).toBe('SIGKILL');
  keeper.start();
  await expect.poll(() => keeper.panels().length, POLL).toBeGreaterThan(panels);
  await expect.poll(() => keeper.servers().length, POLL).toBe(servers + 1);
  const next = keeper.servers().at(-1) as number;
  expect([isGone(rig.server), isGone(next)]).toEqual([true, false]);
  rig.server = next;
}

async function runsOn(version: 'old' | 'new', { updates, status }: PanelUpdatesAnswer, step: Step): Promise<void> {
  expect([updates.version === NEXT, status?.state]).toEqual(
    version === 'new' ? [true, 'succeeded'] : [false, 'failed'],
  );
  if (step.in !== 'keeper') expect(rig.keeper.servers().at(-1)).toBe(rig.server);
  expect(isGone(rig.server)).toBe(false);
  const before = rig.keeper.ticks().length;
  await expect.poll(() => rig.keeper.ticks().length, POLL).toBeGreaterThan(before);
}

/** For the next case. */
async function goBack(): Promise<void> {
  expect((await rig.client.post('/api/updates/rollback')).status).toBe(200);
  await expect.poll(async () => (await rig.view())?.updates.version ?? NEXT, POLL).not.toBe(NEXT);
  await rig.ended();
}

const TRIAL = 'rename .*keeper\\.json .*"trial": \\{';
const COMMIT = 'rename .*keeper\\.json .*"trial": null';

/** A case that has failed may leave anything: the next one begins with another keeper. */
let isSpoilt = true;

async function openRig(): Promise<void> {
  const short = { TEST_PROVEN_MS: '300', TEST_LET_GO_MS: '3000' };
  const environment = { ...short, KILL_FILE: killFile, NODE_OPTIONS: withPreload('kill-at-step') };
  rmSync(killFile, { force: true });
  rig = await UpdateRig.start(makeRelease({ version: NEXT, key: RELEASE_KEY }), environment);
  await rig.download();
}

it.for<[Step['in'], string, 'old' | 'new', Step['signal']?]>([
  ['sidecar', 'after INSERT INTO jobs', 'old'],
  ['sidecar', 'before INSERT INTO job_steps .*"ordered"', 'old'],
  ['sidecar', 'before write .*"type":"apply"', 'old'],
  ['keeper', `before ${TRIAL}`, 'old'],
  ['keeper', `after ${TRIAL}`, 'old'],
  ['keeper', 'before write .*"type":"hello".*"trial":"', 'old'],
  ['release', 'start', 'old'],
  ['release', 'before write .*"type":"ready"', 'old'],
  ['release', 'before write .*"type":"answer"', 'old'],
  ['keeper', `before ${COMMIT}`, 'old'],
  ['sidecar', 'read .*"type":"go"', 'new'],
  ['sidecar', 'read .*"type":"go"', 'new', 'SIGSTOP'],
  ['release', 'read .*"type":"committed"', 'new'],
  // The last: the next keeper is that of the release, which has the owner's waits.
  ['keeper', `after ${COMMIT}`, 'new'],
])(
  'a %s that is ended at the step `%s` leaves the %s release running',
  { timeout: SLOW_MS },
  async ([program, at, left, signal = 'SIGKILL']) => {
    if (isSpoilt) await openRig();
    isSpoilt = true;
    const step: Step = { in: program, at, signal };
    await runsOn(left, await changeUntil(step), step);
    if (left === 'new' && program !== 'keeper') await goBack();
    isSpoilt = false;
  },
);

it('after all of that every line of the last game server is in the console once', async () => {
  const ticks = rig.keeper.ticks();
  const ofLast = ticks.slice(ticks.lastIndexOf(1));
  expect(ofLast).toEqual(ofLast.map((_, index) => index + 1));
});
