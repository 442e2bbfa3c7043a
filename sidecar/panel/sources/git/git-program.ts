import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { PanelError } from '../../panel-error.ts';
import { findProgram, isProgram, PROGRAM_PATH } from '../../programs/find-program.ts';

const run = promisify(execFile);
const LIMIT_MS = 10_000;
/** Oldest version with `merge-tree --write-tree` and `http.curloptResolve`. */
export const GIT_MINIMUM = '2.38';

export interface FoundGit {
  readonly program: string;
  /** `2.39.5` */
  readonly version: string;
}

/** The system's git, or the one of `panel.git`. Its version is asked once. */
export class GitProgram {
  readonly #chosen: string | null;
  #found: Promise<FoundGit | null> | null = null;

  /** @param chosen `panel.git`, or null for the first along PATH */
  constructor(chosen: string | null) {
    this.#chosen = chosen;
  }

  /** null if there is none. */
  async look(): Promise<FoundGit | null> {
    this.#found ??= findGit(this.#chosen);
    const found = await this.#found;
    // An owner installs it while the panel runs.
    if (found === null) this.#found = null;
    return found;
  }

  /** @throws PanelError `bundleTools.tool` */
  async need(): Promise<FoundGit> {
    if (process.platform === 'win32') throw missing('sources need git on Linux or macOS');
    const found = await this.look();
    if (found === null) throw missing('install git, or set panel.git in sidecar.json');
    if (!isEnough(found.version))
      throw missing(`git ${found.version} is older than ${GIT_MINIMUM}; install a newer one`);
    return found;
  }
}

function missing(detail: string): PanelError {
  return new PanelError('bundleTools.tool', { field: 'git', detail });
}

async function findGit(chosen: string | null): Promise<FoundGit | null> {
  const program = chosen ?? findProgram('git');
  if (program === null || !isProgram(program)) return null;
  const said = await run(program, ['--version'], { timeout: LIMIT_MS, env: { PATH: PROGRAM_PATH } }).catch(() => null);
  const version = /^git version (\d+\.\d+(?:\.\d+)*)/.exec(said?.stdout ?? '')?.[1];
  return version === undefined ? null : { program, version };
}

function isEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = GIT_MINIMUM.split('.').map(Number);
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}
