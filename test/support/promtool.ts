import { spawnSync } from 'node:child_process';
import { providePromtool } from '#scripts/servers/debian-program.ts';

export interface Verdict {
  readonly code: number | null;
  readonly output: string;
}

export type Promtool = (argv: readonly string[], input?: string) => Verdict;

/** Debian's promtool: Prometheus' own parser of metrics, expressions and rules. */
export async function openPromtool(): Promise<Promtool> {
  const [program = '', ...rest] = await providePromtool(() => {});
  return (argv, input = '') => {
    const { status, stdout, stderr } = spawnSync(program, [...rest, ...argv], { input, encoding: 'utf8' });
    return { code: status, output: stdout + stderr };
  };
}
