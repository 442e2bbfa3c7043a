// How a program of a server is run: as an account that owns nothing, inside its Debian if it has one, and ended by the
// kernel when the supervisor is gone.
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { basename, join } from 'node:path';
import type { Installation } from './engine.ts';

/** `nobody`: known to every system, so `initdb` finds it; servers refuse to run as root. */
const UNPRIVILEGED_ID = 65_534;

/** Path at which a Debian of ours sees the server's folder. */
const FOLDER_INSIDE = '/srv';

// Mounts made here are seen by this process and its children only, and go with them.
const ENTER_ROOT = `set -e
root=$1 folder=$2
shift 2
mount --bind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --bind "$folder" "$root${FOLDER_INSIDE}"
exec chroot "$root" "$@"`;

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** The account that servers run as: who their folders must belong to. */
export function serverAccount(): { uid: number; gid: number } | null {
  return isRoot() ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : null;
}

/** The path of a program on the machine, or null. `folders` are looked into after those of PATH. */
export function findProgram(name: string, folders: readonly string[] = []): string | null {
  for (const folder of [...(process.env.PATH ?? '').split(':'), ...folders]) {
    if (folder === '') continue;
    try {
      accessSync(join(folder, name), constants.X_OK);
      return join(folder, name);
    } catch {
      // Not there: the next one.
    }
  }
  return null;
}

/** The server's folder as its program sees it. */
export function folderInside(installation: Installation, folder: string): string {
  return installation.root === '/' ? folder : FOLDER_INSIDE;
}

export interface PrivateCommand {
  readonly installation: Installation;
  readonly folder: string;
  readonly argv: readonly string[];
  readonly deathSignal: NodeJS.Signals;
}

/** A command that the kernel ends with `signal` when this process is gone, on systems that can. */
export function endedWithUs(
  signal: NodeJS.Signals,
  argv: readonly string[],
  account: readonly string[] = [],
): string[] {
  const canEnd = process.platform === 'linux' && findProgram('setpriv') !== null;
  return canEnd ? ['setpriv', ...account, '--pdeathsig', signal.slice(3), ...argv] : [...argv];
}

/** The whole command line. It replaces itself step by step, so the process that is spawned becomes the server itself. */
export function privateCommand({ installation, folder, argv, deathSignal }: PrivateCommand): string[] {
  const account = isRoot() ? ['--reuid', `${UNPRIVILEGED_ID}`, '--regid', `${UNPRIVILEGED_ID}`, '--clear-groups'] : [];
  const command = endedWithUs(deathSignal, argv, account);
  if (installation.root === '/') return command;
  return ['unshare', '--mount', '--ipc', 'sh', '-c', ENTER_ROOT, 'sh', installation.root, folder, ...command];
}

/** Runs a command of a server to its end. Its own last words are the error. */
export async function runPrivately(
  place: Pick<PrivateCommand, 'installation' | 'folder'>,
  argv: readonly string[],
): Promise<void> {
  const command = privateCommand({
    installation: place.installation,
    folder: place.folder,
    argv,
    deathSignal: 'SIGKILL',
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  const env = { PATH: `${process.env.PATH}`, LC_ALL: 'C', HOME: folderInside(place.installation, place.folder) };
  const options = { cwd: place.folder, env };
  execFile(`${command[0]}`, command.slice(1), options, (error, stdout, stderr) => {
    if (error === null) return resolve();
    const words = `${stdout}\n${stderr}`.trim().split('\n').slice(-6).join('\n');
    resolve(Promise.reject(new Error(`${basename(`${argv[0]}`)} failed: ${words || `code ${error.code}`}`)));
  });
  return promise;
}
