import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { openEngine } from '#engine/open.ts';
import type { DeadLetter } from '#engine/queues.ts';
import { ApiError } from '#protocol/errors.ts';
import { readJournalNote, writeJournalNote } from '#sidecar/cluster/journal-notes.ts';
import { JournalWatch } from '#sidecar/cluster/journal-watch.ts';
import type { CommandIo } from '#sidecar/commands/command-process.ts';
import { runDeadLetters } from '#sidecar/commands/dead-letters.ts';
import { runQueue } from '#sidecar/commands/queue.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import { unique, writeConfig } from '../support/config-folder.ts';
import { newDatabase, type TestDatabase } from '../support/test-database.ts';
import { testFolder } from '../support/test-folder.ts';

/** Journal of the sidecar whose queues the commands look after; the commands come from other processes. */
const JOURNAL = 'abcdefghij';
const bounds = () => ({ deadline: performance.now() + 20_000 });

let database: TestDatabase;
let engine: Engine;

beforeAll(async () => {
  database = await newDatabase();
  const { database: settings } = loadConfig(configOf(), {});
  engine = await openEngine({ ...settings, poolSize: 2 }, { log: () => {}, now: Date.now });
});

afterAll(async () => {
  await engine.close();
  await database.drop();
});

beforeEach(async () => {
  for (const { id } of await engine.queues.listLetters(null, bounds())) await engine.queues.discardLetter(id, bounds());
});

/** Configuration of another box each time: a journal of its own. */
function configOf(...namespaces: string[]): string {
  const folder = testFolder();
  const listed = Object.fromEntries(namespaces.map((name) => [name, {}]));
  return writeConfig(folder, { writeBehind: { journal: 'journal', namespaces: listed } }, database.settings);
}

/** State of a journal whose sidecar has told nothing yet. */
const UNKNOWN = { box: null, state: 'unknown', waiting: null };

type Command = typeof runQueue;

async function run(command: Command, args: string[], { config = configOf('stats'), isForPeople = false } = {}) {
  const out: string[] = [];
  const errors: string[] = [];
  const io: CommandIo = { print: (line) => out.push(line), printError: (line) => errors.push(line), isForPeople };
  const isDone = await command(args, loadConfig(config, {}), io);
  return { isDone, out, errors };
}

async function addLetter(changes: Partial<DeadLetter> = {}): Promise<DeadLetter> {
  const letter: DeadLetter = {
    id: `${JOURNAL}-${unique('9')}`,
    namespace: 'stats',
    kid: 'local',
    op: 'insert',
    payload: '{"namespace":"stats","table":"kills",\n "rows":[{"id":12345678901234567890,"amount":1.1}]}',
    code: 'constraint_violation',
    message: 'a row with this key exists already',
    time: Date.UTC(2026, 10, 21, 3, 0, 0, 7),
    isRetryWanted: false,
    ...changes,
  };
  await engine.queues.addLetters([letter], bounds());
  return letter;
}

/** As before a sidecar had told anything about its journal. */
const forgetNote = (journal: string) => engine.transfer.writeMark(`journal:${journal}`, null, bounds());

/** A sidecar of this machine that answers for the journal; ends it. */
async function runningSidecar(journal: string): Promise<() => Promise<void>> {
  const instance = unique('sidecar');
  const row = { instance, box: hostname(), url: 'http://127.0.0.1:1', version: '1.0.0', seenAt: 1 };
  await engine.cluster.putSidecar(row, null, bounds());
  const watch = new JournalWatch({
    ...{ engine, journal, instance: () => instance, waiting: () => 0, settle: async () => 0 },
  });
  watch.begin();
  await expect.poll(() => readJournalNote(engine, journal, bounds())).toMatchObject({ instance });
  return async () => {
    await watch.end();
    await forgetNote(journal);
    await engine.cluster.dropSidecar(row, bounds());
  };
}

const listed = () => engine.queues.listLetters(null, bounds());

describe('dead-letters list', () => {
  it('prints a line of JSON each, oldest first, numbers digit for digit', async () => {
    const later = await addLetter({ time: Date.UTC(2026, 10, 21, 4) });
    const earlier = await addLetter({ op: 'update', namespace: 'other', payload: '{"all":true}' });
    const { isDone, out, errors } = await run(runDeadLetters, ['list']);
    expect({ isDone, errors }).toEqual({ isDone: true, errors: [] });
    expect(out).toEqual([
      `{"id":"${earlier.id}","namespace":"other","op":"update","payload":{"all":true},"code":"constraint_violation","message":"a row with this key exists already","time":"2026-11-21T03:00:00.007Z"}`,
      `{"id":"${later.id}","namespace":"stats","op":"insert","payload":{"namespace":"stats","table":"kills","rows":[{"id":12345678901234567890,"amount":1.1}]},"code":"constraint_violation","message":"a row with this key exists already","time":"2026-11-21T04:00:00.000Z"}`,
    ]);
  });

  it('prints aligned lines for people, in which text of others moves no cursor', async () => {
    const { id } = await addLetter({ message: 'no \u001b[2J value' });
    expect((await run(runDeadLetters, ['list'], { isForPeople: true })).out).toEqual([
      `${'ID'.padEnd(id.length)}  SINCE                     WRITE               CODE                  MESSAGE`,
      `${id}  2026-11-21T03:00:00.007Z  insert stats.kills  constraint_violation  no \\u001b[2J value`,
    ]);
  });

  it('says that there are none', async () => {
    expect((await run(runDeadLetters, ['list'])).out).toEqual([]);
    expect((await run(runDeadLetters, ['list'], { isForPeople: true })).out).toEqual(['there are no dead letters']);
  });
});

describe('dead-letters retry', () => {
  it('asks for another attempt at those that are named, and says who will make it', async () => {
    await engine.queues.claimQueue('stats', JOURNAL, bounds());
    const stop = await runningSidecar(JOURNAL);
    onTestFinished(stop);
    const [wanted, other] = [await addLetter(), await addLetter()];
    const { isDone, out } = await run(runDeadLetters, ['retry', wanted.id]);
    expect(isDone).toBe(true);
    expect(out).toEqual([
      `will be tried again: ${wanted.id} (insert stats.kills, 2026-11-21T03:00:00.007Z, constraint_violation)`,
      expect.stringContaining(
        `stats: the sidecar with the journal ${JOURNAL} of ${hostname()} puts them at the end of its queue`,
      ),
    ]);
    const states = new Map((await listed()).map(({ id, isRetryWanted }) => [id, isRetryWanted]));
    expect(states).toEqual(
      new Map([
        [wanted.id, true],
        [other.id, false],
      ]),
    );
    expect((await run(runDeadLetters, ['list'], { isForPeople: true })).out.join()).toContain('is to be tried again');
  });

  it('warns where nobody would make it', async () => {
    await addLetter({ namespace: 'orphan' });
    const unlisted = await run(runDeadLetters, ['retry']);
    expect(unlisted.out[1]).toContain('warning: orphan is not listed under writeBehind.namespaces');
    const unowned = await run(runDeadLetters, ['retry'], { config: configOf('orphan') });
    expect(unowned.out[1]).toContain('warning: no sidecar has buffered orphan in this database');
  });

  it('names the journals that nobody answers for, without the forgotten ones, and says what to do', async () => {
    const namespace = unique('r');
    const note = { instance: 'i', box: 'game-2', isRunning: true, waiting: 0, request: '', isForgotten: false };
    for (const journal of ['diedtodayy', 'forgottenn']) await engine.queues.claimQueue(namespace, journal, bounds());
    onTestFinished(async () => void (await Promise.all(['diedtodayy', 'forgottenn'].map(forgetNote))));
    await writeJournalNote(engine, 'diedtodayy', note, bounds());
    await writeJournalNote(engine, 'forgottenn', { ...note, isForgotten: true }, bounds());
    await addLetter({ namespace });
    const { isDone, out } = await run(runDeadLetters, ['retry'], { config: configOf(namespace) });
    expect(isDone).toBe(true);
    expect(out.slice(1)).toEqual([
      `warning: no sidecar runs that buffers ${namespace}: none answers for the journal diedtodayy of game-2. The letters wait: start a sidecar that lists ${namespace} under writeBehind.namespaces, on any box; it tries them again by itself`,
    ]);
  });

  it('does the others where one is not there, and says so', async () => {
    const { id } = await addLetter();
    const { isDone, errors, out } = await run(runDeadLetters, ['retry', 'gone-1', id]);
    expect(isDone).toBe(false);
    expect(errors).toEqual(['there is no dead letter gone-1; dead-letters list shows them']);
    expect(out[0]).toContain(id);
    expect((await listed())[0]?.isRetryWanted).toBe(true);
  });
});

describe('dead-letters discard', () => {
  it('deletes those that are named, and all without a name', async () => {
    const [gone, left] = [await addLetter(), await addLetter()];
    expect((await run(runDeadLetters, ['discard', gone.id])).out).toEqual([
      expect.stringContaining(`discarded ${gone.id}`),
    ]);
    expect((await listed()).map(({ id }) => id)).toEqual([left.id]);
    expect((await run(runDeadLetters, ['discard'])).isDone).toBe(true);
    expect(await listed()).toEqual([]);
    expect((await run(runDeadLetters, ['discard'])).out).toEqual(['there are no dead letters']);
  });
});

describe('the queue command', () => {
  it('makes a place for the writes of the configuration, once', async () => {
    const namespace = unique('q');
    const config = configOf(namespace);
    const adopted = await run(runQueue, ['adopt', namespace], { config });
    const [row] = await engine.queues.listQueues(namespace, bounds());
    expect(row).toMatchObject({ token: 1, position: 0 });
    expect(adopted.out).toEqual([
      `the writes of ${namespace} in this configuration's journal ${row?.journal} go to this database now`,
    ]);
    expect((await run(runQueue, ['adopt', namespace], { config })).out).toEqual([
      expect.stringContaining(`with this configuration's journal ${row?.journal} already; nothing was changed`),
    ]);
    expect(await engine.queues.listQueues(namespace, bounds())).toEqual([row]);
    expect((await run(runQueue, ['list'], { config })).out).toContain(
      JSON.stringify({
        namespace,
        journal: row?.journal,
        isOwn: true,
        token: 1,
        position: 0,
        ageSeconds: null,
        ...UNKNOWN,
      }),
    );
  });

  it('lists every journal with its age, for people too', async () => {
    const namespace = unique('a');
    const config = configOf(namespace);
    await run(runQueue, ['adopt', namespace], { config });
    const { token } = await engine.queues.claimQueue(namespace, JOURNAL, bounds());
    const entry = {
      ...{ position: 7, letterId: unique('letter'), isRetry: false, kid: 'k', op: 'insert', payload: '{}', time: 1 },
      work: new ApiError('unknown_table', 'gone'),
    };
    await engine.queues.applyQueue({ namespace, journal: JOURNAL, token, entries: [entry] }, bounds());
    const lines = (await run(runQueue, ['list'], { config, isForPeople: true })).out;
    expect(lines[0]).toMatch(/^NAMESPACE +JOURNAL +POSITION +LAST WRITE +SIDECAR$/);
    const own = (await engine.queues.listQueues(namespace, bounds())).find(
      ({ journal }) => journal !== JOURNAL,
    )?.journal;
    const listed = lines.filter((line) => line.startsWith(namespace));
    expect(listed).toHaveLength(2);
    expect(listed).toContainEqual(
      expect.stringMatching(new RegExp(`^${namespace} +${JOURNAL} +7 +\\d+ (s|min) ago +not known$`)),
    );
    expect(listed).toContainEqual(
      expect.stringMatching(new RegExp(`^${namespace} +${own} +0 +never +this configuration$`)),
    );
    const ages = (await run(runQueue, ['list'], { config })).out.map((line) => JSON.parse(line));
    expect(ages.find((row) => row.namespace === namespace && !row.isOwn)?.ageSeconds).toBeGreaterThanOrEqual(0);
  });

  it('says how the sidecar of each journal ended, and hides what is forgotten', async () => {
    const namespace = unique('f');
    const note = { instance: 'i', box: 'game-2', isRunning: false, waiting: 0, request: '', isForgotten: false };
    const notes = { stoppedone: note, leftbehind: { ...note, waiting: 3 }, goneforgood: { ...note, isRunning: true } };
    for (const [journal, written] of Object.entries(notes)) {
      await engine.queues.claimQueue(namespace, journal, bounds());
      await writeJournalNote(engine, journal, written, bounds());
    }
    const listed = async () => (await run(runQueue, ['list'], { isForPeople: true })).out;
    const rows = (await listed()).filter((line) => line.startsWith(namespace));
    expect(rows).toEqual([
      expect.stringMatching(/ goneforgood .* game-2, gone without an end; its writes may wait$/),
      expect.stringMatching(/ leftbehind .* game-2, stopped; 3 writes wait$/),
      expect.stringMatching(/ stoppedone .* game-2, stopped with nothing left$/),
    ]);
    expect((await run(runQueue, ['forget', 'goneforgood'])).out).toEqual([
      'forgotten: the journal goneforgood of game-2; queued writes that waited in it are lost',
      'if it comes back after all, its sidecar goes on with it, and nothing is done twice',
    ]);
    const shown = await listed();
    expect(shown.join('\n')).not.toContain('goneforgood');
    expect(shown.at(-1)).toBe('not shown: 1 of forgotten journals; --json has them');
    const lines = (await run(runQueue, ['list'])).out.map((line) => JSON.parse(line));
    expect(lines.find(({ journal }) => journal === 'goneforgood')).toMatchObject({ state: 'forgotten', waiting: null });
  });

  it('forgets no journal that is not there, or in use', async () => {
    expect(await run(runQueue, ['forget', 'nothere'])).toEqual({
      ...{ isDone: false, out: [] },
      errors: ['there is no journal nothere; queue list shows them'],
    });
    const namespace = unique('u');
    const config = configOf(namespace);
    await run(runQueue, ['adopt', namespace], { config });
    const own = (await engine.queues.listQueues(namespace, bounds()))[0]?.journal ?? '';
    const { isDone, errors } = await run(runQueue, ['forget', own], { config });
    expect({ isDone, errors }).toEqual({ isDone: false, errors: [expect.stringContaining('of this configuration')] });
  });

  it('adopts nothing for a configuration that has no journal and does not list the namespace', async () => {
    await expect(run(runQueue, ['adopt', unique('n')])).rejects.toThrow('there is no journal');
  });
});

describe('arguments that make no sense', () => {
  it.each([
    ['dead-letters', [], 'expected: dead-letters list'],
    ['dead-letters', ['remove'], 'expected: dead-letters list'],
    ['dead-letters', ['list', 'x-1'], 'dead-letters list takes no ID'],
    ['queue', [], 'expected: queue list'],
    ['queue', ['list', 'stats'], 'expected: queue list'],
    ['queue', ['adopt'], 'expected: queue list'],
    ['queue', ['forget'], 'expected: queue list'],
    ['queue', ['take-over', 'a'], 'expected: queue list'],
    ['queue', ['adopt', 'a', 'b'], 'expected: queue list'],
    ['queue', ['adopt', 'No Name'], 'No Name is not the name of a namespace'],
  ] as const)('are refused before anything is done: %s %j', async (name, args, message) => {
    const command = name === 'queue' ? runQueue : runDeadLetters;
    await expect(run(command, [...args])).rejects.toThrow(message);
  });

  it('nor is a database made that is not there', async () => {
    const folder = testFolder();
    const config = writeConfig(folder, {}, { provider: 'sqlite', file: 'none.sqlite' });
    await expect(run(runDeadLetters, ['list'], { config })).rejects.toThrow(
      `there is no database ${join(folder, 'none.sqlite')}: a start of the sidecar makes it; else check database.file`,
    );
  });
});
