import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it, vi } from 'vitest';
import { StandaloneProcess } from './standalone-process.ts';

const MAIN = fileURLToPath(new URL('../../standalone/main.ts', import.meta.url));
const PATIENCE = { timeout: 30_000, interval: 10 };
const UP = '\u001b[A';
const CTRL_C = '\u0003';

let folder: StandaloneProcess;
let child: ChildProcessWithoutNullStreams;
let shown: string;

afterEach(async () => {
  child.kill('SIGKILL');
  await folder.remove();
});

/** The server on a pseudo-terminal, which `script` of util-linux makes. */
async function start(): Promise<void> {
  folder = new StandaloneProcess();
  folder.bundle(
    'shop',
    `export default (host) => {
       host.commands.register('greet', 'greets', ([name], reply) => reply('hello ' + name));
       host.commands.register('later', 'says something later', () => void setTimeout(() => host.log('later it is'), 50));
     }`,
  );
  const command = [process.execPath, MAIN, '--root', folder.root].join(' ');
  child = spawn('script', ['-qec', command, '/dev/null']);
  shown = '';
  child.stdout.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
  });
  await shows(/bundles started/);
}

const shows = (pattern: RegExp) => vi.waitFor(() => expect(shown).toMatch(pattern), PATIENCE);

/** A tab counts as a key only if it comes by itself, as from a keyboard. */
async function typed(keys: string, then: RegExp): Promise<void> {
  child.stdin.write(keys);
  await shows(then);
}

it.runIf(process.platform === 'linux')('edits the typed line on a terminal, with history and completion', async () => {
  await start();
  await typed('gre', /> .*gre$/);
  await typed('\t', /greet $/);
  await typed('ann\r', /hello ann\r\n/);
  // Echoed by the editor alone, behind its prompt.
  expect(shown).not.toMatch(/\ngreet/);
  child.stdin.write(`${UP}e\r`);
  await shows(/hello anne\r\n/);
  await typed('restart sh', /restart sh$/);
  await typed('\t', /shop $/);
  child.stdin.write('\r');
  await shows(/stopped shop[\s\S]*started shop/);
  const before = shown.length;
  child.stdin.write('later\rgreet b');
  await vi.waitFor(() => expect(shown.slice(before)).toMatch(/\[shop\] later it is\r\n[^\n]*greet b/), PATIENCE);
  child.stdin.write('en\r');
  await shows(/hello ben\r\n/);
  const ended = once(child, 'exit');
  child.stdin.write(CTRL_C);
  await shows(/The server has stopped/);
  expect((await ended)[0]).toBe(0);
});
