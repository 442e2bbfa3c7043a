import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { buffered, Scores } from '#test/contract/write-behind-world.ts';
import { writeConfig } from '../support/config-folder.ts';
import { type SidecarProcess, spawnSidecar } from '../support/sidecar-process.ts';
import { SIDECAR_MAIN } from '../support/sidecar-program.ts';
import { newDatabase } from '../support/test-database.ts';
import { testFolder } from '../support/test-folder.ts';

/** A box is dead, and its disk can still be read: its journal moves to a box that lives (docs/write-behind.md, "Several boxes"). */

const running: SidecarProcess[] = [];
afterAll(async () => {
  await Promise.all(running.map((one) => one.kill()));
});

async function start(configFile: string): Promise<SidecarProcess> {
  const sidecar = await spawnSidecar('', {}, {}, configFile);
  running.push(sidecar);
  return sidecar;
}

interface ListedJournal {
  readonly journal: string;
  /** Belongs to the configuration that asks. */
  readonly isOwn: boolean;
  readonly state: string;
  readonly waiting: number | null;
}

/** `queue list` as another program reads it: state of each journal. */
async function journals(configFile: string): Promise<ListedJournal[]> {
  const args = [SIDECAR_MAIN, 'queue', 'list', '--config', configFile];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

it('applies what a killed box had queued, once, from its journal on another box', { timeout: 60_000 }, async () => {
  const database = await newDatabase();
  const settings = { writeBehind: { ...(buffered(['stats']).writeBehind as object), journal: 'journal' } };
  const [dead, living, moved] = [testFolder(), testFolder(), testFolder()];
  const [first, second] = [dead, living].map((folder) => writeConfig(folder, settings, database.settings));
  const [box1, box2] = [await start(`${first}`), await start(`${second}`)];
  const scores = new Scores(box1.client, 'stats');
  await scores.declare();
  await scores.insert(1, { durability: 'immediate' });
  for (let round = 0; round < 20; round += 1) expect(await scores.add(1, 1)).toMatchObject({ status: 200 });
  await box1.kill();
  // The other box has a journal of the same namespace.
  const journal = (await journals(`${first}`)).find(({ isOwn }) => isOwn)?.journal;

  // As the page says: moved, and a second sidecar with a copy of the configuration.
  mkdirSync(moved, { recursive: true });
  renameSync(join(dead, 'journal'), join(moved, 'journal'));
  copyFileSync(`${first}`, join(moved, 'sidecar.json'));
  const third = await start(join(moved, 'sidecar.json'));
  expect(third.log).toContainEqual(expect.objectContaining({ writes: 20 }));
  await third.kill('SIGTERM');
  const listed = await journals(`${second}`);
  expect(listed.filter((one) => one.journal === journal)).toMatchObject([{ state: 'stopped', waiting: 0 }]);

  expect(await new Scores(box2.client, 'stats').points()).toEqual([[1, 20]]);
  await box2.kill();
  await database.drop();
});
