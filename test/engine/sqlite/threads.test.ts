import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect } from 'vitest';
import { itIf } from '#support/it-if.ts';
import { endKeptThreads } from '#support/kept-thread.ts';
import { testFolder } from '#support/test-folder.ts';
import { bodies, declareNotes, insertNote, openSqlite, within } from './world.ts';

const TASKS = '/proc/self/task';
const whyNot = existsSync(TASKS) ? null : 'this system does not list threads';

/** Ids of SQLite's threads in this process. */
function threads(): string[] {
  return readdirSync(TASKS).filter((id) => {
    try {
      return readFileSync(join(TASKS, id, 'comm'), 'utf8').startsWith('sqlite-');
    } catch {
      return false;
    }
  });
}

beforeEach(endKeptThreads);

itIf(whyNot, 'the work of a start needs one thread, and the first find of rows another', async () => {
  const before = new Set(threads());
  const own = () => threads().filter((id) => !before.has(id)).length;
  const { engine } = await openSqlite(join(testFolder(), 'game.sqlite'), 2);
  await Promise.all([
    engine.ping(within(5000)),
    engine.cluster.listRevoked(within(5000)),
    engine.cluster.listSidecars(within(5000)),
    engine.queues.listQueues(null, within(5000)),
  ]);
  const target = await declareNotes(engine);
  await insertNote(engine, target, 'first');
  expect(await engine.schemas.readSchema('game', within(5000))).toMatchObject({ revision: target.revision });
  expect(own()).toBe(1);
  expect(await bodies(engine, target)).toEqual(['first']);
  expect(own()).toBe(2);
  await engine.close();
});

itIf(whyNot, 'a read of its own does not wait for a write', async () => {
  const before = new Set(threads());
  const { engine } = await openSqlite(join(testFolder(), 'game.sqlite'), 2);
  const target = await declareNotes(engine);
  const [, sidecars] = await Promise.all([
    insertNote(engine, target, 'first'),
    engine.cluster.listSidecars(within(5000)),
  ]);
  expect(sidecars).toEqual([]);
  expect(threads().filter((id) => !before.has(id))).toHaveLength(2);
  await engine.close();
});

itIf(whyNot, 'threads that closed in order serve the next database of a test, and others end', async () => {
  const before = new Set(threads());
  const own = () => threads().filter((id) => !before.has(id));
  const filled = async (name: string) => {
    const { engine } = await openSqlite(join(testFolder(), 'game.sqlite'), 2);
    const target = await declareNotes(engine);
    await insertNote(engine, target, name);
    expect(await bodies(engine, target)).toEqual([name]);
    await engine.close();
    return own();
  };
  const first = await filled('first');
  expect(first).toHaveLength(2);
  expect(await filled('second')).toEqual(first);
  await endKeptThreads();
  expect(own()).toEqual([]);
});
