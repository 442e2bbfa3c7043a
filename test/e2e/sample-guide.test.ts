import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { shipBundle } from '#scripts/build/shipped-bundles.ts';
import { startSidecar, type TestSidecar } from '../support/sidecar.ts';
import { DIST, SampleSite } from './sample-server.ts';

const GUIDE = readFileSync(new URL('../../docs/scripting.md', import.meta.url), 'utf8');

/** The first code block of a language after a text, without the indentation of its list. */
function blockAfter(text: string, language: string): string {
  const rest = GUIDE.slice(GUIDE.indexOf(text));
  const found = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(rest)?.[1];
  if (found === undefined) throw new Error(`the guide has no ${language} after ${text}`);
  return found.replace(/^ {3}/gm, '');
}

let sidecar: TestSidecar;
let site: SampleSite;
beforeEach(async () => {
  sidecar = await startSidecar();
  site = new SampleSite();
  site.connectTo(sidecar.address, sidecar.secret, ['game', 'stats', 'counter', 'weather']);
});
afterEach(async () => {
  await site.remove();
  await sidecar.stop();
});

it('the five minutes of the guide work as they are printed', async () => {
  const root = join(site.vfs, 'root');
  const bundle = join(root, 'bundles/counter');
  mkdirSync(bundle, { recursive: true });
  cpSync(join(DIST, 'db_connector'), join(root, 'bundles/db_connector'), { recursive: true });
  writeFileSync(join(bundle, 'bundle.json'), blockAfter('`bundle.json`', 'json'));
  writeFileSync(join(bundle, 'server.js'), blockAfter('`server.js`', 'js'));

  const server = site.start(root);
  await server.line(/counter.*started|started.*counter/);
  await server.command('visit Zoë', /Zoë: 1$/);
  await server.command('visit Zoë', /Zoë: 2$/);
  await server.command('visit "O\'Brien"', /O'Brien: 1$/);
  expect(await server.quit()).toBe(0);
});

const EXAMPLES = `import { Database, DatabaseError, Q } from '../db_connector/helper.js';
export default async function start(host) {
  const db = new Database(host);
  await db.async.Ready();
  const characters = Q.Table('characters', [Q.Int64('id'), Q.Int32('money')], { primaryKey: ['id'] });
  const settings = Q.Table('settings', [Q.Text('name'), Q.Text('value')], { primaryKey: ['name'] });
  await db.orThrow.Sync('game', Q.Schema(characters, settings));
  await db.orThrow.InsertAll('game', 'characters', Array.from({ length: 1200 }, (_, id) => ({ id, money: id })));
EXAMPLE
  host.log('through');
}
`;

/** The text before an example of the guide, and the lines that it must print, in this order. */
const EXPECTED: readonly [string, readonly RegExp[]][] = [
  [
    '**A mistyped name is refused**',
    [
      /First game\.characters: query\.where: unknown name\. Did you mean filter\?/,
      /\[examples\] invalid_request: query\.where/,
    ],
  ],
  ['`Upsert` takes a list too', [/\[examples\] 2 settings saved/]],
  ['`Capped` of the result is true', [/\[examples\] only 1000 of them/]],
  ['### One namespace, and exceptions', [/no weather yet/, /there is a weather already: constraint_violation: /]],
];

it.each(EXPECTED)('the example behind "%s" prints what it says', async (text, expected) => {
  const root = join(site.vfs, 'root');
  const bundle = join(root, 'bundles/examples');
  mkdirSync(bundle, { recursive: true });
  cpSync(join(DIST, 'db_connector'), join(root, 'bundles/db_connector'), { recursive: true });
  writeFileSync(
    join(bundle, 'bundle.json'),
    '{ "version": "1.0.0", "server": "a.js", "dependencies": ["db_connector"] }',
  );
  writeFileSync(
    join(bundle, 'a.js'),
    EXAMPLES.replace('EXAMPLE', () => blockAfter(text, 'js')),
  );
  const server = site.start(root);
  await server.line(/\[examples\] through/);
  const seen = expected.map((pattern) => server.lines.findIndex((line) => pattern.test(line)));
  expect(seen, server.lines.join('\n')).not.toContain(-1);
  expect(seen).toEqual(seen.toSorted((one, other) => one - other));
});

it('the bundle in TypeScript works as it is printed, in a bundles folder and as the project builds it', async () => {
  const root = join(site.vfs, 'root');
  const source = join(site.vfs, 'sources/weather');
  mkdirSync(source, { recursive: true });
  cpSync(join(DIST, 'db_connector'), join(root, 'bundles/db_connector'), { recursive: true });
  writeFileSync(join(source, 'bundle.json'), blockAfter('`bundle.json` names the source', 'json'));
  writeFileSync(join(source, 'server.ts'), blockAfter('`server.ts`\n', 'ts'));
  cpSync(source, join(root, 'bundles/weather'), { recursive: true });
  const server = site.start(root);
  await server.line(/started weather/);
  await server.command('weather rain', /weather: rain$/);

  shipBundle(source, join(root, 'bundles/built'));
  expect(readdirSync(join(root, 'bundles/built')).toSorted()).toEqual(['bundle.json', 'server.js']);
  await server.command('stop weather', /stopped weather/);
  await server.command('start built', /started built/);
  await server.command('weather sun', /weather: sun$/);
  await server.command('stop built', /the weather stays as it is/);
  expect(await server.quit()).toBe(0);
});
