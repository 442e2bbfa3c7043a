// Our 25 lines of Go around FerretDB, compiled once into the cache.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cacheFolder } from './cache-folder.ts';
import { endedWithUs, findProgram } from './private-command.ts';

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
    const command = endedWithUs('SIGTERM', [go, 'build', '-trimpath', '-o', making, '.']);
    await promisify(execFile)(`${command[0]}`, command.slice(1), { cwd: SOURCE });
    renameSync(making, program);
  } finally {
    rmSync(making, { force: true });
  }
  return program;
}
