import { describe, expect, it } from 'vitest';
import { ENTRY_BOUNDS, EntryRefused, EntryRules } from '#panel/installs/entry-rules.ts';

const add = (...paths: string[]) => {
  const rules = new EntryRules();
  return paths.map((path) => rules.add(path, path.endsWith('/') ? 'folder' : 'file'));
};

describe('rules of entries', () => {
  it('accept what bundles hold', () => {
    const paths = [
      '[cars]/shop/fxmanifest.lua',
      'shop/ui/index.html',
      'shop/Größe.lua',
      'shop/.env.example',
      'a b/c+d',
    ];
    expect(add(...paths)).toEqual(paths);
    expect(add('shop/', 'shop/main.lua')).toEqual(['shop', 'shop/main.lua']);
  });

  it('ignore what systems and git leave behind', () => {
    expect(add('__MACOSX/x', 'a/.DS_Store', 'a/.git/config', '.GIT/hooks/pre-commit')).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });

  it.each([
    ['the folder above', '../x'],
    ['a folder above, inside', 'a/../../x'],
    ['an absolute path', '/etc/passwd'],
    ['a drive', 'C:/x'],
    ['an alternate stream', 'a.txt:b'],
    ['a backslash', 'a\\..\\x'],
    ['NUL', 'a\0b'],
    ['a control character', 'a\u001bb'],
    ['a direction character', 'a\u202egpj.lua'],
    ['a character of no width', 'a\u200bb'],
    ['a reserved name', 'aux'],
    ['a reserved name with an ending', 'a/NUL.txt'],
    ['a reserved name with a raised digit', 'com¹.lua'],
    ['a dot at the end', 'a./b'],
    ['a space at the end', 'a '],
    ['no name', ''],
    ['an empty part', 'a//b'],
    ['too many levels', `${'a/'.repeat(ENTRY_BOUNDS.levels)}b`],
    ['too long a path', 'a'.repeat(ENTRY_BOUNDS.pathBytes + 1)],
    ['half a surrogate', 'a\ud800'],
  ])('refuse %s', (_, path) => {
    expect(() => add(path)).toThrow(EntryRefused);
  });

  it.each([
    ['twice', ['a/b', 'a/b']],
    ['by case', ['a/b', 'a/B']],
    ['by the case of a folder', ['a/b', 'A/c']],
    ['by Unicode form', ['\u00e9', 'e\u0301']],
    ['a file where a folder is', ['a', 'a/b']],
    ['a folder where a file is', ['a/b/c', 'a/b']],
  ])('refuse entries that are the same: %s', (_, paths) => {
    expect(() => add(...paths)).toThrow(EntryRefused);
  });

  it('name the entry with what cannot be seen made visible', () => {
    expect(() => add('a\u202eb')).toThrow('a\\u{202e}b: ');
  });

  it('bound the number of entries and the bytes that came out', () => {
    const rules = new EntryRules();
    for (let n = 0; n < ENTRY_BOUNDS.entries; n += 1) rules.add(`f${n}`, 'file');
    expect(() => rules.add('one-more', 'file')).toThrow('at most 20000 entries');
    rules.count('f1', ENTRY_BOUNDS.bytes);
    expect(() => rules.count('f1', 1)).toThrow('at most 1024 MiB');
  });
});
