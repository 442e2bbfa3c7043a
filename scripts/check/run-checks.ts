import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Counts } from './counts.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A program of a package, as Node.js runs it: no shell, no PATH. */
export function binOf(packageName: string, program = packageName.split('/').at(-1) as string): string {
  // Not resolved as a module: a package need not export its manifest.
  const manifest = join(ROOT, 'node_modules', packageName, 'package.json');
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: string | Record<string, string> };
  return join(dirname(manifest), typeof bin === 'string' ? bin : (bin[program] as string));
}

export interface Outcome {
  readonly code: number;
  readonly output: string;
}

export function run(args: readonly string[], isShown: boolean, environment: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    // A child's output is read here, or goes where ours goes: colours only on a terminal.
    env: { ...process.env, ...environment, ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : { NO_COLOR: '1' }) },
    stdio: ['ignore', isShown ? 'inherit' : 'pipe', isShown ? 'inherit' : 'pipe'],
  });
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.on('error', reject);
  child.on('close', (code) => resolve({ code: code ?? 1, output: Buffer.concat(chunks).toString() }));
  return promise;
}

export async function check(name: string, work: () => Promise<Outcome>): Promise<Counts> {
  const startedMs = performance.now();
  const { code, output } = await work();
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.log(`${code === 0 ? '✓' : '✗'} ${name} (${seconds} s)`);
  if (code !== 0) console.log(`${output.trimEnd()}\n`);
  return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0 };
}

const CHECKS: Readonly<Record<string, () => Promise<Outcome>>> = {
  // The default, four checkers, takes a third more of the processors, which the other checks need.
  types: () => run([binOf('typescript', 'tsc'), '--noEmit', '--checkers', '2'], false),
  'types of the pages': () => run([binOf('typescript', 'tsc'), '--noEmit', '-p', 'sidecar/panel/web'], false),
  'lint and format': () => run([binOf('@biomejs/biome'), 'ci', '--colors=off'], false),
  'unused code': () => run([binOf('knip'), '--no-progress'], false),
  'import directions': () => run([join(ROOT, 'scripts/check/import-directions.ts')], false),
};

/** Checks whose names contain `part`, side by side; each counts as one test. */
export function runChecks(part = ''): Promise<Counts>[] {
  return Object.entries(CHECKS)
    .filter(([name]) => name.includes(part))
    .map(([name, work]) => check(name, work));
}

/** Formats the sources and applies the safe fixes of the linter. */
export function format(): Promise<Outcome> {
  return run([binOf('@biomejs/biome'), 'check', '--write'], true);
}
