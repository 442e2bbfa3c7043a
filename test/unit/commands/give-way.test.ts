import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it, vi } from 'vitest';
import { COMMANDS } from '#sidecar/commands/command-table.ts';

/** Niceness of each thread of a process after it gave way, and of one that began later. */
const PROGRAM = `
  import { readdirSync } from 'node:fs';
  import { getPriority } from 'node:os';
  import { Worker } from 'node:worker_threads';
  import { giveWay } from '${new URL('../../../sidecar/commands/give-way.ts', import.meta.url).href}';
  giveWay();
  const threads = () => readdirSync('/proc/self/task').map((id) => getPriority(Number(id)));
  const before = threads();
  const later = new Worker('setInterval(() => {}, 1000)', { eval: true });
  later.once('online', () => {
    console.log(JSON.stringify({ before, after: threads() }));
    process.exit();
  });
`;

it('a backup lets a sidecar and a game server on the machine go before it', async () => {
  const giveWay = vi.fn();
  const io = { environment: {}, moveIo: () => ({}) as never, giveWay };
  await expect(COMMANDS.backup?.run(['frob'], io)).rejects.toThrow('expected make, send, drill, keygen, got frob');
  expect(giveWay).toHaveBeenCalledOnce();
});

if (process.platform === 'linux') {
  it('all threads of the process give way, later ones too', async () => {
    const args = ['--input-type=module-typescript', '--eval', PROGRAM];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const { before, after } = JSON.parse(stdout) as { before: number[]; after: number[] };
    expect(after.length).toBeGreaterThan(before.length);
    expect(new Set([...before, ...after])).toEqual(new Set([10]));
  });
}
