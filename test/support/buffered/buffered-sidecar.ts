import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { SIDECAR_MAIN } from '#support/sidecar-program.ts';
import { type ConfigChanges, writeConfig } from '../config-folder.ts';
import type { SidecarProcess } from '../sidecar-process.ts';
import type { SignedClient } from '../signed-client.ts';
import { NAMESPACE, type StoredState, TABLES } from './oracle.ts';

/** Sections of sidecar.json for a namespace that is buffered; all rows of a table fit one answer. */
export function bufferedConfig(database: object, writeBehind: object = {}): ConfigChanges {
  return {
    database,
    limits: { maxRows: 100_000 },
    writeBehind: { namespaces: { [NAMESPACE]: { consistentReads: true } }, ...writeBehind },
  };
}

/** Declares the tables, and makes the two counters of each writer. */
export async function prepareTables(client: SignedClient, writers: number): Promise<void> {
  await client.must('schema.sync', { namespace: NAMESPACE, schema: { tables: TABLES } });
  const rows = Array.from({ length: 2 * writers }, (_, i) => ({ id: `c${i}`, writer: i >> 1 }));
  await client.must('insert', { namespace: NAMESPACE, table: 'counters', rows, durability: 'immediate' });
}

/** Everything that is stored, all that was acknowledged before included. */
export async function readState(client: SignedClient): Promise<StoredState> {
  const rowsOf = async <Row>(table: string, fields: string[]): Promise<Row[]> => {
    const { rows } = await client.must<{ rows: Row[] }>('find', { namespace: NAMESPACE, table, fields });
    return rows;
  };
  return {
    events: await rowsOf<StoredState['events'][number]>('events', ['tag', 'part']),
    counters: await rowsOf<StoredState['counters'][number]>('counters', ['writer', 'n']),
    latest: await rowsOf<StoredState['latest'][number]>('latest', ['id', 'seq']),
  };
}

export interface Flushed {
  readonly flushed: number;
  readonly deadLettered: number;
  readonly remaining: number;
  readonly halted: boolean;
  readonly enabled: boolean;
}

export function flush(client: SignedClient): Promise<Flushed> {
  return client.must<Flushed>('flush', { namespace: NAMESPACE });
}

export interface BufferHealth {
  readonly enabled: boolean;
  readonly pending: number;
  readonly oldestAgeSeconds: number;
  readonly halted: boolean;
  readonly deadLetters: number;
}

export async function bufferHealth(client: SignedClient): Promise<BufferHealth> {
  const { writeBuffer } = await client.must<{ writeBuffer: BufferHealth }>('health');
  return writeBuffer;
}

/** A process that is killed so soon that it may not serve yet. */
export async function spawnBriefly(folder: string, changes: ConfigChanges, lifeMs: number): Promise<void> {
  const child: ChildProcess = spawn(process.execPath, [SIDECAR_MAIN, '--config', writeConfig(folder, changes)], {
    cwd: new URL('../../..', import.meta.url),
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
    stdio: 'ignore',
  });
  const gone = once(child, 'exit');
  await Promise.race([gone, wait(lifeMs)]);
  child.kill('SIGKILL');
  const [code] = await gone;
  if (code !== null) throw new Error(`the sidecar ended by itself with ${code}`);
}

/** The exit code, null after `kill -9`; clients are connected and wait for answers meanwhile. */
export async function endProcess(sidecar: SidecarProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
  const gone = once(sidecar.child, 'exit');
  sidecar.child.kill(signal);
  const [code] = (await gone) as [number | null];
  await sidecar.client.close();
  return code;
}

/** Lines of the log at these levels. */
export function logged(sidecar: Pick<SidecarProcess, 'log'>, ...levels: string[]): string {
  const lines = sidecar.log.filter((line) => levels.length === 0 || levels.includes(String(line.level)));
  return lines.map((line) => JSON.stringify(line)).join('\n');
}
