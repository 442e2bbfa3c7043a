// Our 25 lines of Go around FerretDB, compiled once into the cache.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from './cache-folder.ts';
import { runInstall } from './install-command.ts';
import { findProgram } from './private-command.ts';

const SOURCE = fileURLToPath(new URL('ferretdb', import.meta.url));

/** The path of the compiled program. Throws an Error with the reason why not. */
export async function provideFerretdb(say: (line: string) => void): Promise<string> {
  const hash = createHash('sha256');
  for (const file of ['main.go', 'go.mod', 'go.sum']) hash.update(readFileSync(join(SOURCE, file)));
  const program = join(cacheFolder('bin'), `ferretdb-${hash.digest('hex').slice(0, 12)}`);
  if (existsSync(program)) return program;
  const go = findProgram('go', ['/usr/local/go/bin']);
  if (go === null) throw new Error('FerretDB is compiled here, and Go is not on this machine');
  say('Compiling FerretDB: once, a minute or two …');
  const making = `${program}.${process.pid}`;
  try {
    const argv = [go, 'build', '-trimpath', '-o', making, '.'];
    await runInstall({ argv, cwd: SOURCE, abortSignal: 'SIGINT' }, say);
    renameSync(making, program);
  } finally {
    rmSync(making, { force: true });
  }
  return program;
}
