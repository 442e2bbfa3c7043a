import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { shipBundles } from '#scripts/build/shipped-bundles.ts';
import { BundleWatch } from '#scripts/start/bundle-watch.ts';
import { DIST, SampleSite } from './sample-server.ts';

const SERVER = `import type { Host } from '../db_connector/helper.js';
import { greet } from './parts/greet.ts';

interface Guest { readonly name: string }

export default function start(host: Host): void {
  const guest: Guest = { name: 'Zoë' };
  host.log(greet(guest.name));
}
`;
const greeting = (text: string) => `export const greet = (name: string): string => \`${text} \${name}\`;\n`;

let site: SampleSite;
let server: ReturnType<SampleSite['start']>;
let watch: BundleWatch;
let sources: string;
let shipped: string;
const said: string[] = [];

function write(path: string, text: string): void {
  mkdirSync(join(sources, path, '..'), { recursive: true });
  writeFileSync(join(sources, path), text);
}

/** Bundles in TypeScript as they lie in `bundles/` of the project, on a running server. */
beforeEach(async () => {
  site = new SampleSite();
  said.length = 0;
  sources = join(site.vfs, 'bundles');
  const root = join(site.vfs, 'root');
  shipped = join(root, 'bundles');
  for (const name of ['shop', 'bank']) {
    write(`${name}/bundle.json`, `{ "version": "1.0.0", "server": "server.ts" }`);
    write(`${name}/server.ts`, SERVER);
    write(`${name}/parts/greet.ts`, greeting('hello'));
  }
  write('db_connector/helper.ts', 'throw new Error("stands for the helper, and is never shipped");');
  shipBundles(sources, shipped);
  cpSync(join(DIST, 'db_connector/helper.js'), join(shipped, 'db_connector/helper.js'));
  server = site.start(root);
  await server.line(/started shop/);
  await server.line(/started bank/);
  watch = new BundleWatch({
    from: sources,
    to: shipped,
    type: (line) => server.type(line),
    say: (line) => said.push(line),
  });
});
afterEach(async () => {
  watch.close();
  await site.remove();
});

it('a bundle that is changed is built and started again, and no other one', async () => {
  const from = server.lines.length;
  const startedMs = performance.now();
  write('shop/parts/greet.ts', greeting('good morning'));
  await server.line(/\[shop\] good morning Zoë/, { from });
  // Under a second on a quiet machine.
  expect(performance.now() - startedMs).toBeLessThan(10_000);
  expect(said).toEqual([expect.stringMatching(/^\[watch\] shop: built in \d+ ms$/)]);
  expect(server.lines.slice(from).filter((line) => line.includes('bank'))).toEqual([]);
  expect(readFileSync(join(shipped, 'shop/parts/greet.js'), 'utf8')).toContain('good morning');
});

it('a file that an editor replaced is still seen when it is written in place', async () => {
  const from = server.lines.length;
  write('shop/parts/greet.new', greeting('replaced'));
  renameSync(join(sources, 'shop/parts/greet.new'), join(sources, 'shop/parts/greet.ts'));
  await server.line(/\[shop\] replaced Zoë/, { from });
  write('shop/parts/greet.ts', greeting('in place'));
  await server.line(/\[shop\] in place Zoë/, { from });
});

it('a mistake leaves the running bundle as it is, and a moved file is moved', async () => {
  write('shop/server.ts', SERVER.replace('start(host: Host)', 'start(host: Host'));
  await expect.poll(() => said).toEqual([expect.stringContaining('shop/server.ts')]);
  const from = server.lines.length;
  write('shop/server.ts', SERVER.replace("'./parts/greet.ts'", "'./greet.ts'"));
  renameSync(join(sources, 'shop/parts/greet.ts'), join(sources, 'shop/greet.ts'));
  await server.line(/started shop/, { from });
  await expect.poll(() => existsSync(join(shipped, 'shop/parts/greet.js'))).toBe(false);
  expect(existsSync(join(shipped, 'shop/greet.js'))).toBe(true);
});

it('a new bundle is started, and one that is taken away is stopped', async () => {
  const from = server.lines.length;
  cpSync(join(sources, 'bank'), join(sources, 'casino'), { recursive: true });
  await server.line(/\[casino\] hello Zoë/, { from });
  rmSync(join(sources, 'bank'), { recursive: true });
  await server.line(/stopped bank/, { from });
  await expect.poll(() => existsSync(join(shipped, 'bank'))).toBe(false);
});
