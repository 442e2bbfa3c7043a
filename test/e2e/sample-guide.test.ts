import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
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
  site.connectTo(sidecar.address, sidecar.secret, ['game', 'stats', 'counter']);
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
