import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { type ConfigChanges, secretOf, writeConfig } from './config-folder.ts';
import { SIDECAR_MAIN } from './sidecar-program.ts';
import { SignedClient } from './signed-client.ts';

export interface SidecarProcess {
  readonly folder: string;
  readonly address: string;
  readonly pid: number;
  readonly child: ChildProcess;
  readonly client: SignedClient;
  /** Parsed lines of standard output so far. */
  readonly log: Record<string, unknown>[];
  /** Resolves with the exit code (null after a signal) once the process is gone. */
  kill(signal?: NodeJS.Signals): Promise<number | null>;
}

/**
 * A real process of the sidecar, of these sources or that of `dist/`, once it listens.
 * The folder belongs to the caller, so that the next process can start on it.
 */
export async function spawnSidecar(
  folder: string,
  changes: ConfigChanges = {},
  environment: Record<string, string> = {},
  /** A file that is used as it is, or made by the sidecar. */
  givenFile?: string,
  /** A command that becomes the process, such as one that changes what it sees of the disk. */
  wrapper: readonly string[] = [],
  main = SIDECAR_MAIN,
): Promise<SidecarProcess> {
  const configFile = givenFile ?? writeConfig(folder, changes);
  const [program, ...args] = [...wrapper, process.execPath, main, '--config', configFile];
  const child = spawn(`${program}`, args, {
    cwd: new URL('../..', import.meta.url),
    env: { ...process.env, NODE_NO_WARNINGS: '1', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log: Record<string, unknown>[] = [];
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const gone = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const address = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const entry = JSON.parse(line) as Record<string, unknown>;
      log.push(entry);
      if (entry.msg === 'listening' && entry.service === 'api') resolve(String(entry.address));
    });
    void gone.then((code) => reject(new Error(`the sidecar ended with ${code}: ${errors} ${JSON.stringify(log)}`)));
  });
  const client = new SignedClient({ address, secret: secretOf('local') });
  return {
    folder,
    address,
    pid: child.pid as number,
    child,
    client,
    log,
    async kill(signal = 'SIGKILL') {
      await client.close();
      child.kill(signal);
      return gone;
    },
  };
}
