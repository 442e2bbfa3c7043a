import { describe, expect, test } from 'vitest';
import { appendAll, FOLDER, JournalWorld, payloadsOf, quiet } from './journal-world.ts';

/** The least that a disk may keep of a write. */
const SECTOR_BYTES = 512;
const STATE = `${FOLDER}/state.json`;

/** Three groups of one entry each in one segment, and the process killed. */
async function threeGroups(world: JournalWorld) {
  const { journal } = await world.open();
  const places = [];
  for (const payload of ['one', 'two', 'three '.repeat(900)]) places.push(...(await appendAll(journal, [payload])));
  const path = `${FOLDER}/${String(places[0]?.segment).padStart(8, '0')}.log`;
  return { path, places };
}

function changed(world: JournalWorld, path: string, change: (bytes: Buffer) => Buffer): void {
  world.disk.replace(path, change(Buffer.from(world.disk.contentOf(path))));
}

describe('the last group', () => {
  const fills = { zeros: () => 0, noise: (at: number) => (at * 167 + 13) & 0xff };

  test.each(Object.entries(fills))(
    'without any one of its sectors (%s) is left out, and a line says so',
    async (_, fill) => {
      for (let sector = 0; ; sector += 1) {
        const world = new JournalWorld();
        const { path, places } = await threeGroups(world);
        const last = places[2];
        if (last === undefined) throw new Error('no third entry');
        const begin = Math.floor(last.offset / SECTOR_BYTES) * SECTOR_BYTES + sector * SECTOR_BYTES;
        if (begin >= last.offset + last.length) break;
        changed(world, path, (bytes) => {
          for (let at = begin; at < begin + SECTOR_BYTES; at += 1) bytes[at] = fill(at);
          return bytes;
        });
        const opened = await world.reopen();
        expect(await payloadsOf(opened)).toEqual(['one', 'two']);
        expect(opened.findings.map((finding) => finding.kind)).toEqual(['torn']);
        expect(world.linesOf('warn').join()).toMatch(/the last group of .* was cut off/);
        expect(world.linesOf('error')).toEqual([]);
      }
    },
  );

  test('that was cut off is told once, and positions of it are not given again', async () => {
    const world = new JournalWorld();
    const { path, places } = await threeGroups(world);
    changed(world, path, (bytes) => bytes.fill(0, (places[2]?.offset ?? 0) + SECTOR_BYTES));
    const { journal } = await world.reopen();
    const [next] = await appendAll(journal, ['four']);
    expect(next?.position).toBeGreaterThan(places[2]?.position ?? 0);
    world.lines.length = 0;
    const again = await world.reopen();
    expect(await payloadsOf(again)).toEqual(['one', 'two', 'four']);
    expect(world.lines).toEqual([]);
  });
});

describe('acknowledged writes that are lost', () => {
  test('in the middle are an error with their positions; the rest goes on, and the file is kept in the end', async () => {
    const world = new JournalWorld();
    const { path, places } = await threeGroups(world);
    changed(world, path, (bytes) => bytes.fill(1, places[1]?.offset ?? 0, (places[1]?.offset ?? 0) + 60));
    const opened = await world.reopen();
    expect(await payloadsOf(opened)).toEqual(['one', 'three '.repeat(900)]);
    expect(opened.findings).toMatchObject([{ kind: 'lost', firstPosition: 2, lastPosition: 2 }]);
    expect(world.linesOf('error')).toHaveLength(1);

    const again = await world.reopen();
    expect(world.linesOf('error')).toHaveLength(1);
    again.journal.settle(again.pending);
    await quiet();
    expect(world.disk.paths()).toContain(`${path}.damaged`);
    expect(world.segments()).not.toContain(path);
  });

  test('by a file that was cut, missing, empty, or shorter than the next one says', async () => {
    for (const damage of ['cut', 'missing', 'sealed', 'zeros'] as const) {
      const world = new JournalWorld();
      const { path, places } = await threeGroups(world);
      if (damage === 'sealed') await (await world.reopen()).journal.append(later);
      if (damage === 'missing') world.disk.destroy(path);
      else if (damage === 'zeros') changed(world, path, (bytes) => bytes.fill(0));
      else changed(world, path, (bytes) => bytes.subarray(0, places[1]?.offset));
      const opened = await world.reopen();
      expect(opened.findings.map((finding) => finding.kind)).toEqual(['lost']);
      expect(world.linesOf('error')).toHaveLength(1);
      const expected = { cut: ['one'], missing: [], sealed: ['one', 'later'], zeros: [] }[damage];
      expect(await payloadsOf(opened)).toEqual(expected);
    }
  });

  test('after a stop in order are noticed even at the very end', async () => {
    const world = new JournalWorld();
    const { journal } = await world.open();
    const [place] = await appendAll(journal, ['one']);
    await journal.close();
    const path = world.segments()[0] as string;
    changed(world, path, (bytes) => bytes.fill(0, (place?.offset ?? 0) - 40));
    const opened = await world.reopen();
    expect(opened.findings).toMatchObject([{ kind: 'lost', firstPosition: 1 }]);
  });
});

test('a segment whose head is gone gives its entries all the same', async () => {
  const world = new JournalWorld();
  const { path } = await threeGroups(world);
  changed(world, path, (bytes) => bytes.fill(7, 100, 300));
  const opened = await world.reopen();
  expect(await payloadsOf(opened)).toEqual(['one', 'two', 'three '.repeat(900)]);
  expect(opened.findings).toEqual([]);
  expect(world.linesOf('warn').join()).toContain('cannot be read');
});

describe('a state file', () => {
  test('that is gone or damaged costs no entry', async () => {
    for (const damage of ['gone', 'damaged'] as const) {
      const world = new JournalWorld();
      const { journal } = await world.open();
      await journal.saveNamespace({ namespace: 'stats', token: 4, isOwner: true, since: 1, stored: null });
      await appendAll(journal, ['one', 'two']);
      if (damage === 'gone') world.disk.destroy(STATE);
      else changed(world, STATE, (bytes) => Buffer.from(bytes.toString().replace('"token":4', '"token":5')));
      const opened = await world.reopen();
      expect(opened.journal.id).toBe(journal.id);
      expect(await payloadsOf(opened)).toEqual(['one', 'two']);
      expect(opened.journal.namespaces().size).toBe(0);
      expect(world.linesOf('error').join()).toContain(damage === 'gone' ? 'is missing' : 'is damaged');
    }
  });
});

describe('refused at start, nothing touched:', () => {
  async function refused(damage: (world: JournalWorld, path: string) => void): Promise<string> {
    const world = new JournalWorld();
    const { path } = await threeGroups(world);
    damage(world, path);
    const before = world.disk.paths().map((each) => [each, Buffer.from(world.disk.contentOf(each)).toString('hex')]);
    const message = await world.reopen().then(
      () => 'opened',
      (error: Error) => error.message,
    );
    const after = world.disk.paths().map((each) => [each, Buffer.from(world.disk.contentOf(each)).toString('hex')]);
    expect(after).toEqual(before);
    return message;
  }

  test('a newer state', async () => {
    const message = await refused((world) =>
      changed(world, STATE, (bytes) => Buffer.from(bytes.toString().replace('"format":1', '"format":2'))),
    );
    expect(message).toContain('newer version');
  });

  test('files of something else', async () => {
    const message = await refused((world) => {
      for (const each of world.disk.paths()) world.disk.destroy(each);
      world.disk.replace(`${FOLDER}/00000001.log`, Buffer.from('127.0.0.1 - - GET / 200\n'.repeat(100)));
    });
    expect(message).toContain('not of this program');
  });

  test('a segment of another journal', async () => {
    const other = new JournalWorld();
    const { path: otherPath } = await threeGroups(other);
    const message = await refused((world, path) => world.disk.replace(path, other.disk.contentOf(otherPath)));
    expect(message).toContain('belongs to another journal');
  });
});

const later = {
  namespace: 'stats',
  token: 1,
  kid: 'local',
  op: 'insert',
  payload: 'later',
  time: 1,
  pending: 1,
  key: null,
  retryOf: null,
};
