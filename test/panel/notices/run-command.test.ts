import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommand } from '#panel/notices/delivery/run-command.ts';
import { testFolder } from '#support/test-folder.ts';

/** Real programs, in a folder of their own. */

function rig(script: string) {
  const folder = testFolder();
  const program = join(folder, 'told.sh');
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o700);
  const place = { folder, secretVariables: new Set<string>() };
  return {
    run: (timeoutMs?: number) => runCommand('./told.sh', '{}\n', place, new AbortController().signal, timeoutMs),
    /** Process id that the script wrote. */
    pid: () => (existsSync(join(folder, 'pid')) ? Number(readFileSync(join(folder, 'pid'), 'utf8')) : 0),
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('a program', () => {
  it('that takes too long is killed with its group, also if it does not want to end', async () => {
    const { run, pid } = rig('trap "" TERM\nsleep 300 &\necho $! > pid\nwait\nwait');
    const { delivered, status, error } = await run(500);
    expect({ delivered, status, error }).toEqual({ delivered: false, status: null, error: 'timeout' });
    await expect.poll(() => isAlive(pid())).toBe(false);
  });

  it('is at its end when it ends, whatever it leaves behind', async () => {
    const { run, pid } = rig(
      "setsid sh -c 'echo $$ > pid; exec sleep 300' &\nwhile [ ! -s pid ]; do sleep 0.05; done\necho done",
    );
    try {
      expect(await run()).toMatchObject({ delivered: true, status: 0, error: null, answer: 'done' });
      expect(isAlive(pid())).toBe(true);
    } finally {
      process.kill(pid(), 'SIGKILL');
    }
  });

  it('need not read its input', async () => {
    const { run } = rig('exec <&-\nexit 4');
    expect(await run()).toMatchObject({ delivered: false, status: 4, error: 'exit' });
  });
});
