import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { testFolder } from '../support/test-folder.ts';

const MAIN = fileURLToPath(new URL('../../standalone/main.ts', import.meta.url));

/** More than a pipe holds, said while the bundle stops. */
const LOUD = `
  import { writeFileSync } from 'node:fs';
  export default (host) => () => {
    for (let line = 0; line < 20000; line += 1) host.log('x'.repeat(60));
    writeFileSync(host.vfs, '');
  };`;

it('the last lines of the console reach a slow reader', async () => {
  const root = testFolder();
  const said = join(root, 'said');
  mkdirSync(join(root, 'bundles/loud'), { recursive: true });
  writeFileSync(join(root, 'bundles/loud/bundle.json'), '{"version":"1.0.0","server":"server.js"}');
  writeFileSync(join(root, 'bundles/loud/server.js'), LOUD);
  const child = spawn(process.execPath, [MAIN, '--root', root, '--vfs', said], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  // With a listener of this kind nothing is read by itself, and nothing is thrown away at the end.
  child.stdout.setEncoding('utf8').on('readable', () => {});
  let text = '';
  const readMore = () => {
    text += child.stdout.read() ?? '';
    return text;
  };
  await expect.poll(readMore, { timeout: 10_000 }).toContain('bundles started');
  child.stdin.write('quit\n');
  await expect.poll(() => existsSync(said), { timeout: 10_000 }).toBe(true);
  child.stdout.removeAllListeners('readable').on('data', (chunk: string) => {
    text += chunk;
  });
  child.stdout.resume();
  expect((await ended)[0]).toBe(0);
  expect(text.match(/x{60}/g)).toHaveLength(20_000);
  expect(text.endsWith('The server has stopped.\n')).toBe(true);
});
