import { matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { oldCommentWords, SOURCE_FOLDERS } from '#scripts/check/comment-words.ts';
import { readSources, type SourceFile, specifiersOf } from '#scripts/check/import-directions.ts';
import { ISOLATED_TESTS } from '#support/isolated-tests.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAX_LINES = 300;
/** Tables, which stay readable at any length. */
const LONG_TABLES = ['scripts/check/import-rules.ts'];
const files = readSources(ROOT, SOURCE_FOLDERS);

/** Files with more than 300 lines; suites of tests are lists of cases and may be longer. */
function longFiles(sources: readonly SourceFile[]): string[] {
  const long = sources.filter(({ path, text }) => !path.startsWith('test/') && text.split('\n').length - 1 > MAX_LINES);
  return long.map(({ path }) => path);
}

/** `file: specifier` of each import that climbs three folders or more, where package.json has a `#` name. */
function climbs(sources: readonly SourceFile[]): string[] {
  return sources.flatMap((file) =>
    specifiersOf(file)
      .filter((specifier) => specifier.startsWith('../../../'))
      .map((specifier) => `${file.path}: ${specifier}`),
  );
}

/** Tests that replace a module, in a process that runs file after file: another file would be served the real one, or keep it. */
function sharedReplacements(sources: readonly SourceFile[]): string[] {
  const replacing = sources.filter(({ path, text }) => path.endsWith('.test.ts') && /\bvi\.(do)?[mM]ock\(/.test(text));
  return replacing.map(({ path }) => path).filter((path) => !ISOLATED_TESTS.some((glob) => matchesGlob(path, glob)));
}

describe('the files', () => {
  it('have at most 300 lines, but for named tables', () => {
    expect(longFiles(files)).toEqual(LONG_TABLES);
    const planted = { path: 'sidecar/long.ts', text: 'x;\n'.repeat(MAX_LINES + 1) };
    expect(longFiles([planted, { path: 'sidecar/short.ts', text: 'x;\n'.repeat(MAX_LINES) }])).toEqual([planted.path]);
  });

  it('never import through three folders above', () => {
    expect(climbs(files)).toEqual([]);
    const text = "import { a } from '../../../a.ts';\nimport { b } from '../../b.ts';";
    expect(climbs([{ path: 'test/a.ts', text }])).toEqual(['test/a.ts: ../../../a.ts']);
  });

  it('replace modules only in a process of their own', () => {
    expect(sharedReplacements(files)).toEqual([]);
    const planted = { path: 'test/panel/a.test.ts', text: `vi.${'mock'}('./b.ts');` };
    expect(sharedReplacements([planted])).toEqual([planted.path]);
  });

  it('have comments in plain technical English', () => {
    expect(files.flatMap(oldCommentWords)).toEqual([]);
    const text = "/** What it does. */\n// Null where none.\nconst word = 'whoever'; // One\n/** Returns `anew`. */\n";
    expect(oldCommentWords({ path: 'a.ts', text })).toEqual(['a.ts:1: What', 'a.ts:2: Null where']);
  });
});
