import { expect, it } from 'vitest';
import { findProgram, PROGRAM_PATH } from '#panel/programs/find-program.ts';
import { runProgram } from '#panel/programs/run-program.ts';
import { describeIf } from '#support/describe-if.ts';
import { testFolder } from '#support/test-folder.ts';
import { isGone } from '../support/server-rig.ts';

const shell = findProgram('sh');

describeIf(shell === null ? 'there is no shell along PATH' : null, 'a program that the panel runs', () => {
  async function printed(script: string): Promise<string> {
    const folder = testFolder();
    const call = { program: String(shell), folder, home: folder, path: PROGRAM_PATH, timeoutMs: 30_000 };
    // It reads its input first, which is sent when the panel has done its part.
    const { stdout } = await runProgram({ ...call, args: ['-c', `read -r line; ${script}`], input: 'go\n' });
    return stdout.toString('utf8').trim();
  }

  it('has a low priority, and so has what it starts', async () => {
    expect(await printed('nice; sh -c nice')).toBe('19\n19');
  });

  it('leaves nothing behind: what it has started ends with it', async () => {
    const pid = Number(await printed('sleep 600 >/dev/null 2>&1 & echo $!'));
    expect(pid).toBeGreaterThan(1);
    expect(isGone(pid)).toBe(true);
  });
});
