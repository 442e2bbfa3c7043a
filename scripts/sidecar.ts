// `npm run sidecar -- COMMAND …`: the built sidecar's own command line, on the Node.js that the project runs on.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildIfStale } from './build.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Standard output is the command's alone: other programs read its JSON lines. */
const say = (line: string): void => console.error(line);

try {
  await buildIfStale(say);
  const program = join(ROOT, 'dist/sidecar/main.js');
  const child = spawn(process.execPath, [program, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  child.on('close', (code) => process.exit(code ?? 1));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
