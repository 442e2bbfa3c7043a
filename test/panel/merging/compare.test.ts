import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { compareCommits } from '#panel/merging/compare.ts';
import { mergeTree, resolvedTree } from '#panel/merging/merge-tree.ts';
import { readPatch } from '#panel/merging/read-patch.ts';
import { commit, newRepository } from './repository.ts';

const LINES = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`);
const text = (changes: Readonly<Record<number, string>>) =>
  `${LINES.map((line, index) => changes[index + 1] ?? line).join('\n')}\n`;

async function twoSides() {
  const repository = await newRepository();
  const root = await commit(
    repository,
    { 'a.lua': text({}), 'b.lua': text({}), 'old/name.lua': text({ 5: 'five' }) },
    null,
  );
  const base = await commit(
    repository,
    { 'a.lua': text({ 3: 'base three' }), 'b.lua': text({ 30: 'base thirty' }), 'old/name.lua': text({ 5: 'five' }) },
    root,
  );
  const head = await commit(
    repository,
    {
      'a.lua': text({ 3: 'head three' }),
      'b.lua': text({ 2: 'head \u202etwo' }),
      'new/name.lua': text({ 5: 'five' }),
      'logo.png': Buffer.from([0x89, 0x50, 0, 0, 1]),
    },
    root,
    'head',
  );
  return { repository, root, base, head };
}

describe('a comparison', () => {
  it('says what head brings: files, lines, commits, and where both sides have changed the same', async () => {
    const { repository, root, base, head } = await twoSides();
    const compared = await compareCommits(repository, { base, head, path: null });
    expect(compared).toMatchObject({ base, head, mergeBase: root, ahead: 1, behind: 1, more: false });
    expect(compared.commits.map(({ commit: hash, author, subject }) => [hash, author, subject])).toEqual([
      [head, 'head', 'of head'],
    ]);
    expect(
      compared.files.map(({ path, oldPath, status, additions, deletions, binary, conflict }) => [
        ...[path, oldPath, status, additions, deletions, binary, conflict],
      ]),
    ).toEqual([
      ['a.lua', null, 'changed', 1, 1, false, true],
      ['b.lua', null, 'changed', 1, 1, false, false],
      ['logo.png', null, 'added', 0, 0, true, false],
      ['new/name.lua', 'old/name.lua', 'renamed', 0, 0, false, false],
    ]);
    expect(compared.files[1]?.hunks).toEqual([
      {
        ...{ oldStart: 1, newStart: 1 },
        lines: [
          { kind: 'same', text: 'line 1' },
          { kind: 'removed', text: 'line 2' },
          { kind: 'added', text: 'head \\u{202e}two' },
          ...['line 3', 'line 4', 'line 5'].map((line) => ({ kind: 'same', text: line })),
        ],
      },
    ]);
  });

  it('is bounded: long files and many files are named, and read one by one', async () => {
    const repository = await newRepository();
    const root = await commit(repository, { 'first.txt': 'x\n' }, null);
    const many = Object.fromEntries(
      Array.from({ length: 305 }, (_, index) => [`f${String(index).padStart(3, '0')}`, `${index}\n`]),
    );
    const long = `${Array.from({ length: 3001 }, (_, index) => `line ${index}`).join('\n')}\n`;
    const head = await commit(repository, { 'first.txt': 'x\n', 'a-long.txt': long, ...many }, root);
    const compared = await compareCommits(repository, { base: root, head, path: null });
    expect(compared.files).toHaveLength(300);
    expect(compared.more).toBe(true);
    expect(compared.files[0]).toMatchObject({ path: 'a-long.txt', additions: 3001, hunks: null });
    const last = await compareCommits(repository, { base: root, head, path: 'f304' });
    expect(last.files).toMatchObject([{ path: 'f304', hunks: [{ lines: [{ kind: 'added', text: '304' }] }] }]);
    await expect(compareCommits(repository, { base: root, head, path: 'nothing' })).rejects.toMatchObject({
      key: 'bundleTools.path',
    });
    await expect(compareCommits(repository, { base: root, head, path: ':(glob)*' })).rejects.toMatchObject({
      key: 'bundleTools.path',
    });
  });

  it.each(['', ' ', '/', '/etc/passwd', '..', '../a.txt', 'a/../a.txt', './a.txt', 'a.txt/', 'a\0b', 'x'.repeat(5000)])(
    'refuses a path that no repository has: %j',
    async (path) => {
      const repository = await newRepository();
      const root = await commit(repository, { 'a.txt': 'x\n' }, null);
      const head = await commit(repository, { 'a.txt': 'y\n' }, root);
      const compared = compareCommits(repository, { base: root, head, path });
      await expect(compared).rejects.toMatchObject({ key: 'bundleTools.path', details: { field: 'path' } });
    },
  );

  it('takes no line of a file for the head of another file or hunk', async () => {
    const repository = await newRepository();
    const evil = 'diff --git a/x b/x\n@@ -1,2 +1,2 @@\n-- a\n++ b\n';
    const root = await commit(repository, { 'a.txt': 'x\n', 'b.txt': 'x\n' }, null);
    const head = await commit(repository, { 'a.txt': evil, 'b.txt': 'y' }, root);
    const { files } = await compareCommits(repository, { base: root, head, path: null });
    expect(files.map(({ path, hunks }) => [path, hunks?.length])).toEqual([
      ['a.txt', 1],
      ['b.txt', 1],
    ]);
    expect(files[0]?.hunks?.[0]?.lines.map(({ text: line }) => line)).toEqual(['x', ...evil.trim().split('\n')]);
    expect(readPatch('')).toEqual([]);
  });
});

describe('a merge', () => {
  it('joins what fits, and takes a whole side for each file that does not', async () => {
    const { repository, base, head } = await twoSides();
    expect((await mergeTree(repository, base, head)).conflicts).toEqual(['a.lua']);
    await expect(resolvedTree(repository, { base, head }, [])).rejects.toMatchObject({
      key: 'bundleTools.conflict',
      details: { paths: ['a.lua'] },
    });
    for (const [take, three] of [
      ['base', 'base three'],
      ['head', 'head three'],
    ] as const) {
      const tree = await resolvedTree(repository, { base, head }, [{ path: 'a.lua', take }]);
      const show = (path: string) =>
        execFileSync('git', ['--git-dir', repository.folder, 'show', `${tree}:${path}`]).toString();
      expect(show('a.lua')).toBe(text({ 3: three }));
      expect(show('b.lua')).toBe(text({ 2: 'head \u202etwo', 30: 'base thirty' }));
      expect(show('new/name.lua')).toBe(text({ 5: 'five' }));
    }
  });

  it('takes no resolution where no conflict is, and knows a file that one side has removed', async () => {
    const { repository, base, head } = await twoSides();
    await expect(
      resolvedTree(repository, { base, head }, [
        { path: 'a.lua', take: 'head' },
        { path: 'b.lua', take: 'head' },
      ]),
    ).rejects.toMatchObject({ key: 'bundleTools.resolutions' });
    const root = await commit(repository, { 'x.txt': 'one\n', 'y.txt': 'y\n' }, null);
    const gone = await commit(repository, { 'y.txt': 'y\n' }, root);
    const changed = await commit(repository, { 'x.txt': 'two\n', 'y.txt': 'y\n' }, root);
    const pair = { base: gone, head: changed };
    const listed = async (take: 'base' | 'head') => {
      const tree = await resolvedTree(repository, pair, [{ path: 'x.txt', take }]);
      return execFileSync('git', ['--git-dir', repository.folder, 'ls-tree', '--name-only', tree]).toString().trim();
    };
    expect(await listed('base')).toBe('y.txt');
    expect(await listed('head')).toBe('x.txt\ny.txt');
  });
});
