import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../prepare.ts';
import { start } from '../processes.ts';
import { Scenarios } from '../scenarios.ts';

/** A sidecar of `dist/` that runs, with the generators of its load. */
export interface BenchSidecar {
  readonly port: number;
  readonly pid: number;
  readonly secret: string;
  /** Id that its own clients write into nonces. */
  readonly instance: string;
  readonly scenarios: Scenarios;
  /** As if its machine had lost power; `stop` is still needed. */
  kill(): void;
  stop(): Promise<void>;
}

interface SidecarOptions {
  readonly database: object;
  readonly seconds: number;
  /** Given if several sidecars share it. */
  readonly secret?: string | undefined;
  readonly program?: string | undefined;
}

export async function startBenchSidecar(options: SidecarOptions): Promise<BenchSidecar> {
  const { database, seconds, program = 'dist/sidecar/main.js' } = options;
  const { folder, secret: own } = makeFolder(database);
  const secret = options.secret ?? own;
  writeFileSync(join(folder, 'secrets/local.secret'), secret, { mode: 0o600 });
  const args = [program, '--config', join(folder, 'sidecar.json')];
  const running = start(args, join(folder, 'sidecar.log'));
  const stop = async (): Promise<void> => {
    await running.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const address = await running.until((line) => {
      const entry = JSON.parse(line) as Record<string, unknown>;
      return entry.msg === 'listening' ? String(entry.address) : null;
    });
    // Older builds have none.
    const { instance = '' } = (await (await fetch(`${address}/v1/health`)).json()) as { instance?: string };
    const [port, pid] = [Number(new URL(address).port), running.process.pid as number];
    const scenarios = new Scenarios({ folder, port, pid, secret, seconds });
    return { port, pid, secret, instance, scenarios, kill: () => void running.process.kill('SIGKILL'), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts all, runs the work, and stops all. */
export async function withSidecars<T>(
  databases: readonly object[],
  seconds: number,
  work: (sidecars: readonly BenchSidecar[]) => Promise<T>,
  secret?: string,
): Promise<T> {
  const sidecars: BenchSidecar[] = [];
  try {
    for (const database of databases) sidecars.push(await startBenchSidecar({ database, seconds, secret }));
    return await work(sidecars);
  } finally {
    await Promise.all(sidecars.map((sidecar) => sidecar.stop()));
  }
}
