import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };

it.each([
  ['package-lock.json', `"version": "${version}"`],
  ['docs/openapi.json', `"version": "${version}"`],
  ['db_connector/bundle.json', `"version": "${version}"`],
  ['db_connector/fxmanifest.lua', `\nversion '${version}'`],
  ['db_connector/protocol/vectors.json', `version ${version}.`],
])('%s has the version of package.json', (file, text) => {
  expect(readFileSync(join(ROOT, file), 'utf8')).toContain(text);
});

it('the newest release of the changelog is that version', () => {
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  const [next, newest = ''] = [...changelog.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
  expect(next).toBe('Next');
  const [released, date] = newest.split(' ');
  expect(released).toBe(version);
  expect(date).toMatch(/^\(\d{4}-\d{2}-\d{2}\)$/);
});
