// `npm test`: builds, runs every check and every test, and closes with counts. `npm test -- PATH…` runs only those tests.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildIfStale } from './build.ts';
import { addCounts, type Counts, closingLine, countReport, isPassed } from './check/counts.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const REPORT = join(ROOT, '.cache/vitest.json');

/** A program of a package, as Node.js runs it: no shell, no PATH. */
function binOf(packageName: string, program = packageName.split('/').at(-1) as string): string {
  // Not resolved as a module: a package need not export its manifest.
  const manifest = join(ROOT, 'node_modules', packageName, 'package.json');
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: string | Record<string, string> };
  return join(dirname(manifest), typeof bin === 'string' ? bin : (bin[program] as string));
}

interface Outcome {
  readonly code: number;
  readonly output: string;
}

function run(args: readonly string[], isShown: boolean): Promise<Outcome> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    // A child's output is read here, or goes where ours goes: colours only on a terminal.
    env: process.stdout.isTTY ? { ...process.env, FORCE_COLOR: '1' } : { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', isShown ? 'inherit' : 'pipe', isShown ? 'inherit' : 'pipe'],
  });
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.on('error', reject);
  child.on('close', (code) => resolve({ code: code ?? 1, output: Buffer.concat(chunks).toString() }));
  return promise;
}

async function check(name: string, work: () => Promise<Outcome>): Promise<Counts> {
  const startedMs = performance.now();
  const { code, output } = await work();
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.log(`${code === 0 ? '✓' : '✗'} ${name} (${seconds} s)`);
  if (code !== 0) console.log(`${output.trimEnd()}\n`);
  return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0 };
}

async function buildCheck(): Promise<Outcome> {
  try {
    await buildIfStale(() => {});
    return { code: 0, output: '' };
  } catch (error) {
    return { code: 1, output: error instanceof Error ? error.message : String(error) };
  }
}

/** Each counts as one test. */
function checks(): Promise<Counts>[] {
  return [
    check('types', () => run([binOf('typescript', 'tsc'), '--noEmit'], false)),
    check('lint and format', () => run([binOf('@biomejs/biome'), 'ci', '--colors=off'], false)),
    check('unused code', () => run([binOf('knip'), '--no-progress'], false)),
    check('import directions', () => run([join(ROOT, 'scripts/check/import-directions.ts')], false)),
  ];
}

async function tests(filters: readonly string[]): Promise<Counts> {
  mkdirSync(dirname(REPORT), { recursive: true });
  rmSync(REPORT, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${REPORT}`];
  const { code } = await run([binOf('vitest'), 'run', ...reporters, ...filters], true);
  return countReport(REPORT, code);
}

async function main(filters: readonly string[]): Promise<void> {
  const startedMs = performance.now();
  console.log('Build and checks:');
  const counts = [await check('build', buildCheck)];
  if (filters.length === 0) counts.push(...(await Promise.all(checks())));
  console.log('Tests:');
  counts.push(await tests(filters));
  const total = addCounts(counts);
  console.log(`${((performance.now() - startedMs) / 60_000).toFixed(1)} minutes in all`);
  console.log(closingLine(total));
  process.exitCode = isPassed(total) ? 0 : 1;
}

await main(process.argv.slice(2));
