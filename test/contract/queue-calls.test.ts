import { describe, expect, it } from 'vitest';
import { type QueuedEntry, QueueLostError, QueueMovedError } from '#engine/queues.ts';
import { StaleSchemaError, type Write } from '#engine/rows.ts';
import { ApiError } from '#protocol/errors.ts';
import type { Value } from '#protocol/values.ts';
import {
  add,
  INT32_MAX,
  insert,
  item,
  newQueue,
  remove,
  rowsOf,
  setBody,
  setTag,
  type TestQueue,
  upsert,
  useEngines,
  within,
} from './queue-world.ts';

const world = useEngines();

describe('places of journals', () => {
  const namespace = 'places';
  const claim = (journal: string, engine = world.engine) => engine.queues.claimQueue(namespace, journal, within());
  const rowOf = (journal: string) => ({ namespace, journal, token: 1, position: 0, past: [] });

  it('are there for each journal, from its first claim', async () => {
    expect(await world.engine.queues.readQueue(namespace, 'a', within())).toBeNull();
    expect(await claim('b')).toEqual(rowOf('b'));
    expect(await claim('a', world.beside)).toEqual(rowOf('a'));
    expect(await claim('b', world.beside)).toEqual(rowOf('b'));
    const listed = ['a', 'b'].map((journal) => ({ ...rowOf(journal), writtenMsAgo: null }));
    expect(await world.engine.queues.listQueues(namespace, within())).toEqual(listed);
    expect(await world.engine.queues.listQueues(null, within())).toEqual(expect.arrayContaining(listed));
    expect(await world.engine.queues.listQueues('nowhere', within())).toEqual([]);
  });

  it('of one journal that is claimed by many at once are one', async () => {
    const engines = [world.engine, world.beside];
    const claims = Array.from({ length: 12 }, (_, i) => claim('wanted', engines[i % 2]));
    for (const row of await Promise.all(claims)) expect(row).toEqual(rowOf('wanted'));
  });

  it('tell how long ago each has written', async () => {
    const queue = await newQueue(world.engine);
    const items = await queue.target('items');
    await world.beside.queues.claimQueue(queue.namespace, 'silent', within());
    const startedAt = performance.now();
    await queue.apply([queue.entry(items, insert(item(1)))]);
    const listed = await world.beside.queues.listQueues(queue.namespace, within());
    expect(listed.map(({ journal }) => journal)).toEqual([queue.journal, 'silent'].toSorted());
    const { writtenMsAgo } = listed.find(({ journal }) => journal === queue.journal) ?? {};
    expect(writtenMsAgo).toBeGreaterThanOrEqual(0);
    expect(writtenMsAgo).toBeLessThan(performance.now() - startedAt + 1000);
    expect(listed.find(({ journal }) => journal === 'silent')?.writtenMsAgo).toBeNull();
  });

  it('move apart from each other', async () => {
    const queue = await newQueue(world.engine);
    const items = await queue.target('items');
    const { namespace: own } = queue;
    await queue.apply([queue.entry(items, insert(item(1))), queue.entry(items, insert(item(2)))]);
    const { token } = await world.beside.queues.claimQueue(own, 'other', within());
    const entry = { ...queue.entry(items, add(items, 1, 5)), position: 1, letterId: 'other-1' };
    expect(
      await world.beside.queues.applyQueue({ namespace: own, journal: 'other', token, entries: [entry] }, within()),
    ).toEqual([]);
    expect(await queue.row()).toMatchObject({ position: 2 });
    expect(await world.engine.queues.readQueue(own, 'other', within())).toMatchObject({ token: 1, position: 1 });
    expect(await queue.items(['n'])).toEqual([{ n: 5 }, { n: 0 }]);
  });

  it('are set as given by a restore', async () => {
    const queue = await newQueue(world.engine);
    const { transfer, queues } = world.beside;
    const past = [
      { token: 1, position: 2 },
      { token: 4, position: 2 ** 33 },
    ];
    const row = { namespace: queue.namespace, journal: queue.journal, token: 9, position: 5, past };
    await transfer.writeQueue(row, within());
    await transfer.writeQueue({ ...row, namespace: 'moved' }, within());
    expect(await queue.row()).toEqual(row);
    expect(await queues.readQueue('moved', queue.journal, within())).toEqual({ ...row, namespace: 'moved' });
    expect(await transfer.hasHalfApplied(row, within())).toBe(false);
  });
});

describe('applying', () => {
  it('applies writes of every kind in order, and moves the position', async () => {
    const queue = await newQueue(world.engine);
    const items = await queue.target('items');
    const writes: Write[] = [
      insert(item(1), item(2)),
      insert(item(3)),
      add(items, 1, 5),
      upsert(2, { body: 'second' }),
      upsert(4, { n: 7 }),
      add(items, 4, 1),
      remove(items, 3),
      insert(item(3, { body: 'again' })),
      setBody(items, 99, 'nobody'),
    ];
    expect(await queue.apply(writes.map((write) => queue.entry(items, write)))).toEqual([]);
    expect(await queue.items(['id', 'body', 'n'])).toEqual([
      { id: 1, body: 'body 1', n: 5 },
      { id: 2, body: 'second', n: 0 },
      { id: 3, body: 'again', n: 0 },
      { id: 4, body: 'body 4', n: 8 },
    ]);
    expect(await queue.row()).toMatchObject({ position: writes.length, token: 1, journal: queue.journal });
  });

  it('gives ids of its own to rows that bring none, beside those that do', async () => {
    const queue = await newQueue(world.engine);
    const events = await queue.target('events');
    const event = (body: string, id: number | null = null) =>
      new Map<string, string | number>(id === null ? [['body', body]] : [['body', body], ['id', id]]); // biome-ignore format: one row
    const rows = [event('a'), event('b', 10), event('c'), event('d', 7), event('e')];
    expect(await queue.apply(rows.map((row) => queue.entry(events, insert(row))))).toEqual([]);
    const found = await rowsOf(world.engine, events, ['id', 'body']);
    expect(found.map(({ body }) => body).toSorted()).toEqual(['a', 'b', 'c', 'd', 'e']);
    const idOf = (body: string) => found.find((row) => row.body === body)?.id;
    expect([idOf('b'), idOf('d')]).toEqual([10, 7]);
    expect(Number(idOf('c'))).toBeGreaterThan(10);
    expect(Number(idOf('e'))).toBeGreaterThan(Number(idOf('c')));
  });

  it('passes by what it has applied before, as a whole and in part', async () => {
    const queue = await newQueue(world.engine);
    const items = await queue.target('items');
    const entries = [queue.entry(items, insert(item(1))), ...increments(queue, items, 5)];
    await queue.apply(entries.slice(0, 4));
    expect(await queue.apply(entries.slice(0, 4))).toEqual([]);
    expect(await queue.apply(entries.slice(2, 6))).toEqual([]);
    expect(await queue.apply(entries)).toEqual([]);
    expect(await queue.items(['n'])).toEqual([{ n: 5 }]);
    expect(await queue.row()).toMatchObject({ position: 6 });
  });

  it('an attempt that nobody waits for any more, and its repetition at the same time, are one', async () => {
    const queue = await newQueue(world.engine);
    const items = await queue.target('items');
    const entries = [queue.entry(items, insert(item(1))), ...increments(queue, items, 20)];
    const attempts = [world.engine, world.beside, world.engine].map(async ({ queues }) => {
      for (let attempt = 0; ; attempt++) {
        try {
          return await queues.applyQueue(queue.batch(entries), within());
        } catch (error) {
          if (attempt > 10 || !isPassing(error)) throw error;
        }
      }
    });
    expect((await Promise.all(attempts)).flat()).toEqual([]);
    expect(await queue.items(['n'])).toEqual([{ n: 20 }]);
  });

  it('refuses what was compiled for another schema, and applies it compiled anew', async () => {
    const queue = await newQueue(world.engine);
    const items = await queue.target('items');
    const old = { ...items, revision: items.revision + 1 };
    const entries = [queue.entry(old, insert(item(1))), queue.entry(old, add(items, 1, 1))];
    await expect(queue.apply(entries)).rejects.toThrow(StaleSchemaError);
    expect(await queue.items(['id'])).toEqual([]);
    expect(await queue.row()).toMatchObject({ position: 0 });
    const compiled = entries.map((entry) => ({ ...entry, work: { ...(entry.work as object), target: items } }));
    expect(await queue.apply(compiled as QueuedEntry[])).toEqual([]);
    expect(await queue.items(['n'])).toEqual([{ n: 1 }]);
  });
});

function increments(queue: TestQueue, items: Parameters<TestQueue['entry']>[0], count: number): QueuedEntry[] {
  return Array.from({ length: count }, () => queue.entry(items, add(items, 1, 1)));
}

/** May pass: the applier tries again. */
function isPassing(error: unknown): boolean {
  return error instanceof ApiError && ['conflict_retry', 'database_error', 'database_timeout'].includes(error.code);
}

describe('fencing', () => {
  it.each([
    ['a journal without a place', { journal: 'journal-b' }],
    ['an older token', { token: 0 }],
    ['a newer token', { token: 2 }],
  ])('applies nothing for %s', async (_, owner) => {
    const queue = await newQueue(world.engine);
    const items = await queue.target('items');
    await expect(queue.apply([queue.entry(items, insert(item(1)))], owner)).rejects.toThrow(QueueLostError);
    expect(await queue.items(['id'])).toEqual([]);
    expect(await queue.row()).toMatchObject({ position: 0 });
  });

  it('applies nothing where somebody else with the same journal has moved the queue on', async () => {
    const queue = await newQueue(world.engine);
    const items = await queue.target('items');
    const [one, two, three] = [1, 2, 3].map((id) => queue.entry(items, insert(item(id)))) as [
      QueuedEntry,
      QueuedEntry,
      QueuedEntry,
    ];
    await queue.apply([one, two]);
    await expect(queue.apply([two, three], { knownTo: one.position })).rejects.toThrow(QueueMovedError);
    expect(await queue.row()).toMatchObject({ position: two.position });
    await queue.apply([two, three], { knownTo: two.position });
    expect(await queue.items(['id'])).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
  });

  it('applies nothing for a namespace that was never claimed', async () => {
    const queue = await newQueue(world.engine);
    const items = await queue.target('items');
    const entry = queue.entry(items, insert(item(1)));
    await expect(queue.apply([entry], { namespace: 'nowhere' })).rejects.toThrow(QueueLostError);
    expect(await queue.items(['id'])).toEqual([]);
  });

  it('everything comes before a fence, and nothing after', async () => {
    const queue = await newQueue(world.engine);
    const items = await queue.target('items');
    await queue.apply([queue.entry(items, insert(item(1)))]);
    let applied = 0;
    const old = (async () => {
      for (;;) {
        await queue.apply(increments(queue, items, 3));
        applied += 3;
      }
    })().catch((error: unknown) => error);
    while (applied < 30) await queue.row();
    const row = await queue.fence(world.beside);
    expect(row).toMatchObject({ token: 2, position: 0 });
    const lost = await old;
    expect(lost).toBeInstanceOf(QueueLostError);
    const atFence = await queue.items(['n']);
    await expect(queue.apply(increments(queue, items, 3))).rejects.toThrow(QueueLostError);
    expect(await queue.items(['n'])).toEqual(atFence);
    // A batch may have been applied before its answer is counted, but with transactions never a part of one.
    if (world.engine.capabilities.transactions) expect(atFence).toEqual([{ n: applied }]);
    expect(await queue.row()).toEqual(row);
  });
});

describe('dead letters', () => {
  it('a write in the middle of merged inserts becomes one, with its error, and the others are applied', async () => {
    const queue = await newQueue(world.engine);
    const items = await queue.target('items');
    const entries = Array.from({ length: 40 }, (_, i) => queue.entry(items, insert(item(i))));
    const bad = [
      queue.entry(items, insert(item(7, { body: 'twin' }))),
      queue.entry(items, insert(item(50, { tag: 'taken' }))),
      queue.entry(items, insert(item(51, { tag: 'taken' }))),
    ];
    const last = queue.entry(items, insert(item(60)));
    const letters = await queue.apply([...entries, ...bad, last]);
    expect(letters.map(({ id }) => id)).toEqual([bad[0]?.letterId, bad[2]?.letterId]);
    expect(letters.map(({ code }) => code)).toEqual(['constraint_violation', 'constraint_violation']);
    expect((await queue.items(['id'])).map(({ id }) => id)).toEqual([...Array(40).keys(), 50, 60]);
    expect(await queue.row()).toMatchObject({ position: last.position });
    expect(await queue.letters()).toEqual(letters);
  });

  it('keeps all that the owner wants to know of a write', async () => {
    const queue = await newQueue(world.engine);
    const items = await queue.target('items');
    const payload = '{"namespace":"x","table":"items","text":"ü \\u0001 😀 \'\\" %s"}';
    const lost = queue.entry(items, new ApiError('unknown_column', 'rows[0].gone: no such column'), { payload });
    const [letter, ...others] = await queue.apply([queue.entry(items, insert(item(1))), lost]);
    expect(others).toEqual([]);
    expect(letter).toEqual({
      id: lost.letterId,
      namespace: queue.namespace,
      kid: 'local',
      op: 'insert',
      payload,
      code: 'unknown_column',
      message: 'rows[0].gone: no such column',
      time: lost.time,
      isRetryWanted: false,
    });
    expect(await queue.letters()).toEqual([letter]);
    expect(await queue.items(['id'])).toEqual([{ id: 1 }]);
  });

  it('what overflows, collides or doubles a key becomes one, and changes nothing', async () => {
    const queue = await newQueue(world.engine);
    const items = await queue.target('items');
    await queue.apply([queue.entry(items, insert(item(1, { n: INT32_MAX, tag: 'a' }), item(2, { tag: 'b' })))]);
    const writes: Write[] = [
      add(items, 1, 1),
      setTag(items, 2, 'a'),
      upsert(3, { tag: 'a' }),
      insert(item(4), item(1)),
      upsert(2, { n: 9 }),
    ];
    const letters = await queue.apply(writes.map((write) => queue.entry(items, write)));
    expect(letters.map(({ code }) => code)).toEqual([
      'invalid_value',
      'constraint_violation',
      'constraint_violation',
      'constraint_violation',
    ]);
    const rows = await queue.items(['id', 'n', 'tag']);
    expect(rows.filter(({ id }) => id !== 4)).toEqual([
      { id: 1, n: INT32_MAX, tag: 'a' },
      { id: 2, n: 9, tag: 'b' },
    ]);
  });

  it('an insert for which the generator has no id left becomes one, and the others are applied', async () => {
    const queue = await newQueue(world.engine);
    const [events, items] = [await queue.target('events'), await queue.target('items')];
    const event = (more: [string, number][] = []) => insert(new Map<string, Value>([['body', 'x'], ...more]));
    const letters = await queue.apply([
      queue.entry(items, insert(item(1))),
      queue.entry(events, event([['id', INT32_MAX]])),
      queue.entry(items, add(items, 1, 1)),
      queue.entry(events, event()),
      queue.entry(events, event([['id', 5]])),
      queue.entry(items, add(items, 1, 1)),
    ]);
    expect(letters.map(({ code }) => code)).toEqual(['constraint_violation']);
    expect(await rowsOf(world.engine, events, ['id'])).toEqual([{ id: 5 }, { id: INT32_MAX }]);
    expect(await queue.items(['n'])).toEqual([{ n: 2 }]);
  });

  it('is listed oldest first, of a namespace or of all, counted, and discarded once', async () => {
    const { queues } = world.engine;
    const before = await queues.countLetters(within());
    const queue = await newQueue(world.engine);
    const other = await newQueue(world.engine);
    const refuse = async (of: TestQueue, time: number) => {
      const entry = of.entry(await of.target('items'), new ApiError('unknown_table', 'gone'), { time });
      await of.apply([entry]);
      return entry.letterId;
    };
    const ids = [await refuse(queue, 5000), await refuse(other, 1000), await refuse(queue, 3000)];
    const idsOf = async (namespace: string | null) =>
      (await queues.listLetters(namespace, within())).map(({ id }) => id).filter((id) => ids.includes(id));
    expect(await idsOf(queue.namespace)).toEqual([ids[2], ids[0]]);
    expect(await idsOf(null)).toEqual([ids[1], ids[2], ids[0]]);
    expect(await queues.countLetters(within())).toBe(before + 3);
    expect(await queues.discardLetter(ids[0] ?? '', within())).toBe(true);
    expect(await queues.discardLetter(ids[0] ?? '', within())).toBe(false);
    expect(await idsOf(queue.namespace)).toEqual([ids[2]]);
    expect(await queues.countLetters(within())).toBe(before + 2);
  });

  it('those of a journal that lost its queue are added once, and leave what is there', async () => {
    const queue = await newQueue(world.engine);
    const [known] = await queue.apply([
      queue.entry(await queue.target('items'), new ApiError('unknown_table', 'gone'), { time: 1 }),
    ]);
    if (known === undefined) throw new Error('there is no letter');
    const orphan = {
      ...known,
      id: 'orphan-1',
      code: 'write_buffer_unavailable',
      message: 'fenced',
      time: 2,
    } as const;
    const changed = { ...known, message: 'another' };
    for (let i = 0; i < 2; i++) await world.engine.queues.addLetters([changed, orphan], within());
    expect(await queue.letters()).toEqual([known, orphan]);
    await world.engine.queues.addLetters([], within());
  });
});

it('what a journal holds of before a fence is buried once, but for what was applied before', async () => {
  const queue = await newQueue(world.engine);
  const { namespace, journal, token } = queue;
  const { queues } = world.engine;
  const items = await queue.target('items');
  await queue.apply([queue.entry(items, insert(item(1))), queue.entry(items, insert(item(2)))]);
  await queue.fence();
  const orphans = [2, 3, 4].map((position) => {
    const texts = { kid: 'local', op: 'insert', payload: '{}', message: 'fenced' };
    const id = `${namespace}-orphan-${position}`;
    const code = 'write_buffer_unavailable' as const;
    return { position, letter: { ...texts, id, namespace, code, time: position, isRetryWanted: false } };
  });
  const bury = () => queues.buryOrphans({ namespace, journal, token }, orphans, within());
  await bury();
  expect(await queue.letters()).toEqual(orphans.slice(1).map(({ letter }) => letter));
  const past = [{ token, position: 4 }];
  expect(await queue.row()).toEqual({ namespace, journal, token: 2, position: 0, past });
  expect(await queues.discardLetter(`${namespace}-orphan-3`, within())).toBe(true);
  await bury();
  expect(await queue.letters()).toEqual(orphans.slice(2).map(({ letter }) => letter));
});

describe('another attempt at a dead letter', () => {
  /** A queue with the letter of an insert of item 1, which is there already. */
  async function refused() {
    const queue = await newQueue(world.engine);
    const items = await queue.target('items');
    const first = insert(item(1, { body: 'queued' }));
    await queue.apply([queue.entry(items, insert(item(1)))]);
    const [letter] = await queue.apply([queue.entry(items, first)]);
    if (letter === undefined) throw new Error('there is no letter');
    const again = () =>
      queue.entry(items, first, { letterId: letter.id, isRetry: true, time: letter.time, payload: letter.payload });
    const { namespace } = queue;
    const wanted = async () => (await queue.engine.queues.lettersToRetry(namespace, 10, within())).map(({ id }) => id);
    return { queue, items, letter, again, wanted };
  }

  it('is wanted by whoever asks, until it was made', async () => {
    const { queue, letter, again, wanted } = await refused();
    expect(await wanted()).toEqual([]);
    expect(await world.beside.queues.wantRetry('no-such-letter', within())).toBe(false);
    expect(await world.beside.queues.wantRetry(letter.id, within())).toBe(true);
    expect(await world.beside.queues.wantRetry(letter.id, within())).toBe(true);
    expect(await wanted()).toEqual([letter.id]);
    expect(await queue.engine.queues.lettersToRetry(queue.namespace, 0, within())).toEqual([]);
    expect(await queue.engine.queues.lettersToRetry('nowhere', 10, within())).toEqual([]);

    expect(await queue.apply([again()])).toEqual([letter]);
    expect(await queue.letters()).toEqual([letter]);
    expect(await wanted()).toEqual([]);
  });

  it('that is in order takes the letter with it, in the middle of other writes', async () => {
    const { queue, items, again } = await refused();
    const entries = [
      queue.entry(items, insert(item(5))),
      queue.entry(items, remove(items, 1)),
      again(),
      queue.entry(items, insert(item(6))),
    ];
    expect(await queue.apply(entries)).toEqual([]);
    expect(await queue.apply(entries)).toEqual([]);
    expect(await queue.letters()).toEqual([]);
    expect(await queue.items(['id', 'body'])).toEqual([
      { id: 1, body: 'queued' },
      { id: 5, body: 'body 5' },
      { id: 6, body: 'body 6' },
    ]);
  });

  it('is not made where the letter is gone: it was made before, or discarded', async () => {
    const { queue, items, letter, again } = await refused();
    await queue.apply([queue.entry(items, remove(items, 1)), again()]);
    expect(await queue.apply([queue.entry(items, remove(items, 1)), again()])).toEqual([]);
    expect(await queue.items(['id'])).toEqual([]);
    expect(await queue.letters()).toEqual([]);
    expect(await world.engine.queues.wantRetry(letter.id, within())).toBe(false);
  });
});
