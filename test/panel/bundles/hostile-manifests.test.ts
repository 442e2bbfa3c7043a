import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { readFxResources } from '#panel/bundles/fx-resources.ts';
import { testFolder } from '#support/test-folder.ts';

/** Far more than it takes on any machine, and far less than what grows with the square of the length. */
const MOST_MS = 500;

let root = '';

beforeAll(() => {
  root = testFolder();
  mkdirSync(join(root, 'resources/one'), { recursive: true });
});

// A resource comes from a stranger, and the thread that reads it is the one that serves the game.
it.each([
  ['empty lines', '\n'.repeat(40_000)],
  ['carriage returns', '\r'.repeat(40_000)],
  ['line separators', '\u2028'.repeat(40_000)],
  ['paragraph separators and blanks', '\u2029 '.repeat(20_000)],
  ['a keyword before much space', `version${' '.repeat(100_000)}`],
  ['keywords before much space', 'description \t\n'.repeat(10_000)],
  ['remarks that never end', '--[['.repeat(60_000)],
  ['lists that never end', 'dependencies {\n'.repeat(17_000)],
  ['quotation marks that do not match', `dependencies {${`'"\n`.repeat(60_000)}}`],
])('a manifest of %s is read in no time', async (_what, manifest) => {
  writeFileSync(join(root, 'resources/one/fxmanifest.lua'), manifest);
  const begun = performance.now();
  const [resource] = await readFxResources(root);
  expect(performance.now() - begun).toBeLessThan(MOST_MS);
  expect(resource?.name).toBe('one');
});

it.each(['\r\n', '\r'])('a manifest whose lines end with %j is read', async (end) => {
  const manifest = ["version '3'", "description 'A shop'", "dependency 'core'"].join(end);
  writeFileSync(join(root, 'resources/one/fxmanifest.lua'), manifest);
  const [resource] = await readFxResources(root);
  expect(resource).toMatchObject({ version: '3', description: 'A shop', dependencies: ['core'] });
});

it('a manifest is read as people write them', async () => {
  const manifest = [
    '--[[ of long ago',
    "version '1'",
    ']]',
    "  version('2.0') -- of today",
    'description "A shop, \'open\'"',
    "dependency 'core'",
    "dependency { 'bank' }",
    'dependencies({',
    '  "/server:5181",',
    "  'map', -- and no other",
    '})',
    "--[[ never ends: dependency 'ghost'",
  ].join('\n');
  writeFileSync(join(root, 'resources/one/fxmanifest.lua'), manifest);
  const [resource] = await readFxResources(root);
  expect(resource).toMatchObject({ version: '2.0', description: "A shop, 'open'" });
  expect(resource?.dependencies.toSorted()).toEqual(['bank', 'core', 'map']);
});
