import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, vi } from 'vitest';
import { COMMANDS } from '#sidecar/commands/command-table.ts';
import { itIf } from '#support/it-if.ts';
import { testFolder } from '#support/test-folder.ts';

const MODULE = new URL('../../../sidecar/commands/give-way.ts', import.meta.url).href;
/** As sched(7) numbers them. */
const [USUAL, IDLE] = ['0', '5'];
const LOOK_MS = 300;

/** Niceness of each thread of a process after it gave way, and of one that began later. */
const PROGRAM = `
  import { readdirSync } from 'node:fs';
  import { getPriority } from 'node:os';
  import { Worker } from 'node:worker_threads';
  import { giveWay } from '${MODULE}';
  giveWay();
  const threads = () => readdirSync('/proc/self/task').map((id) => getPriority(Number(id)));
  const before = threads();
  const later = new Worker('setInterval(() => {}, 1000)', { eval: true });
  later.once('online', () => {
    console.log(JSON.stringify({ before, after: threads() }));
    process.exit();
  });
`;

/** Goes into the class and back, and does nothing there. */
const TRIAL = ['-i', '0', 'chrt', '-o', '0', 'true'];

/** Has always something to do. */
const SPINNING = `
  import { giveWay, waitForIdle } from '${MODULE}';
  giveWay();
  waitForIdle(${LOOK_MS});
  (function spin() {
    setImmediate(spin);
  })();
`;

const NODE = [process.execPath, '--input-type=module-typescript', '--eval'];
/** Runs a program on the first processor alone. */
const onOne = (program: string): ChildProcess => spawn('taskset', ['-c', '0', ...NODE, program]);

/** At the niceness of a backup. */
const goesAndComesBack = (): boolean => spawnSync('nice', ['-n', '10', 'chrt', ...TRIAL]).status === 0;

/** Field 41 of proc_pid_stat(5), for each thread; the name before it may hold spaces. */
function classesOf({ pid }: ChildProcess): Set<string | undefined> {
  const folder = `/proc/${pid}/task`;
  const stats = readdirSync(folder).map((id) => readFileSync(`${folder}/${id}/stat`, 'utf8'));
  return new Set(stats.map((stat) => stat.slice(stat.lastIndexOf(')')).split(' ')[39]));
}

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

  const whyNot = goesAndComesBack() ? null : 'no right to leave the class idle again';
  itIf(whyNot, 'work that nobody waits for has what others leave, and its share where they leave nothing', async () => {
    const waiting = onOne(SPINNING);
    const others: ChildProcess[] = [];
    try {
      await vi.waitUntil(() => classesOf(waiting).has(IDLE), { timeout: 10_000 });
      others.push(...Array.from({ length: 3 }, () => onOne('for (;;);')));
      await vi.waitUntil(() => classesOf(waiting).has(USUAL), { timeout: 15_000 });
    } finally {
      for (const child of [waiting, ...others]) child.kill('SIGKILL');
    }
  });

  it('does not go where it could not come back from', async () => {
    const folder = testFolder();
    const [log, refusing] = [join(folder, 'log'), join(folder, 'chrt')];
    writeFileSync(refusing, `#!/bin/sh\necho "$@" >> ${log}\nexit 1\n`, { mode: 0o755 });
    const program = `import { waitForIdle } from '${MODULE}'; waitForIdle(${LOOK_MS}); setInterval(() => console.log('.'), 10);`;
    const [node = '', ...args] = NODE;
    const child = spawn(node, [...args, program], { env: { PATH: `${folder}:${process.env.PATH}` } });
    try {
      await vi.waitUntil(() => existsSync(log), { timeout: 10_000 });
      await vi.waitUntil(() => readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8') === '');
      for (let turn = 0; turn < 5; turn += 1) await once(child.stdout, 'data');
      expect(readFileSync(log, 'utf8')).toBe(`${TRIAL.join(' ')}\n`);
    } finally {
      child.kill('SIGKILL');
    }
  });
}
