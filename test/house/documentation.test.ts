import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { API_ERRORS, type ErrorRow } from '#protocol/errors.ts';
import { OPERATIONS } from '#protocol/operations.ts';
import { brokenLinks, documentationPages, missingFiles, oldWords } from '#scripts/check/documentation.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const pages = documentationPages(ROOT);

describe('the documentation', () => {
  it('has a front door of at most 140 lines', () => {
    expect(readFileSync(join(ROOT, 'README.md'), 'utf8').split('\n').length).toBeLessThanOrEqual(140);
  });

  it('has links that lead to a file and a heading', () => {
    expect(pages.length).toBeGreaterThan(20);
    expect(pages.flatMap((page) => brokenLinks(page, ROOT))).toEqual([]);
  });

  it('is found with a broken link, also to a heading', () => {
    const text = '[a](docs/api.md#errors) [b](docs/nothing.md) [c](docs/api.md#nothing) [d](#nothing)';
    const found = brokenLinks({ path: 'README.md', text }, ROOT);
    expect(found).toEqual(['README.md: docs/nothing.md', 'README.md: docs/api.md#nothing', 'README.md: #nothing']);
  });

  it('names source files that are there', () => {
    const folders = ['bundles', 'db_connector', 'scripts', 'sidecar', 'standalone', 'test'];
    const files = folders.flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map(
        (file) => `${folder}/${file.replaceAll('\\', '/')}`,
      ),
    );
    const house = pages.filter(({ path }) => /^(ARCHITECTURE|CONTRIBUTING|README|docs\/testing)\.md$/.test(path));
    expect(house.flatMap((page) => missingFiles(page, files))).toEqual([]);
    const text = '`api/app.ts` and `api/moved.ts`';
    expect(missingFiles({ path: 'a.md', text }, ['sidecar/api/app.ts'])).toEqual(['a.md: api/moved.ts']);
  });

  it('is written in plain technical English', () => {
    const plain = pages.filter(({ path }) => path !== 'CHANGELOG.md');
    expect(plain.flatMap(oldWords)).toEqual([]);
  });

  it('is found with old words, but not in code', () => {
    const text =
      'Whoever asks.\n\n- Of keys: none.\n\nIt is looked at anew.\n`null where`\n```\nwhoever\n```\nNull where none.';
    expect(oldWords({ path: 'a.md', text })).toEqual([
      'a.md:1: Whoever',
      'a.md:3: Of',
      'a.md:5: anew',
      'a.md:10: Null where',
    ]);
  });
});

describe('docs/api.md', () => {
  const text = readFileSync(join(ROOT, 'docs/api.md'), 'utf8');

  it('lists every operation with its path', () => {
    for (const [name, { path }] of Object.entries(OPERATIONS)) expect(text).toContain(`| \`${name}\` | \`${path}\` |`);
  });

  it('lists every error code with its statuses', () => {
    for (const [code, row] of Object.entries<ErrorRow>(API_ERRORS)) {
      expect(text).toContain(`| \`${code}\` | ${[row.status, ...(row.also ?? [])].join(', ')} |`);
    }
  });
});
