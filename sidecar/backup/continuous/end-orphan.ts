import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

const POLL_MS = 100;
const STOP_MS = 10_000;

/** Notes which process copies with a configuration, for a sidecar that starts after this one was killed. */
export function notePid(file: string, pid: number): void {
  writeFileSync(file, `${pid}\n`, { mode: 0o600 });
}

/**
 * Ends a child that a killed sidecar has left: two of them would write into one copy. A process id may belong to another
 * program by now, so its command line must name `config`.
 */
export async function endOrphan(pidFile: string, config: string): Promise<void> {
  const pid = existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : Number.NaN;
  if (Number.isSafeInteger(pid) && pid > 1 && isOurs(pid, config)) {
    signal(pid, 'SIGTERM');
    const giveUpAt = performance.now() + STOP_MS;
    while (isOurs(pid, config)) {
      if (performance.now() > giveUpAt) signal(pid, 'SIGKILL');
      // As another account's process would, which cannot be ended from here.
      if (performance.now() > giveUpAt + STOP_MS)
        throw new Error(`Litestream runs as process ${pid} and cannot be ended: end it`);
      await wait(POLL_MS);
    }
  }
  rmSync(pidFile, { force: true });
}

function isOurs(pid: number, config: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(config);
  } catch {
    if (process.platform === 'linux' || process.platform === 'win32') return false;
    const { stdout = '' } = spawnSync('ps', ['-p', String(pid), '-o', 'command='], { encoding: 'utf8' });
    return stdout.includes(config);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has just ended.
  }
}
