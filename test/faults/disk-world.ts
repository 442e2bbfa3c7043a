import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { attachStrace, detachStrace, provideStrace } from '#scripts/servers/strace-program.ts';
import { bufferedConfig, endProcess, flush, prepareTables } from '../support/buffered/buffered-sidecar.ts';
import { Load } from '../support/buffered/load.ts';
import { type SidecarProcess, spawnSidecar } from '../support/sidecar-process.ts';
import { testFolder } from '../support/test-folder.ts';

const WRITERS = 4;
/** Segments that the journal may begin while it is traced. */
const SEGMENTS_AHEAD = 40;
const DATABASE = { provider: 'sqlite', file: 'data/database.sqlite', poolSize: 2 };

/** A sidecar on SQLite whose journal's disk is made to fail, and the load on it. The database's own files are left alone. */
export interface DiskWorld {
  readonly folder: string;
  readonly load: Load;
  readonly sidecar: SidecarProcess;
  /** A new process on the same folder. */
  start(): Promise<void>;
  /** System calls on the journal's files go wrong until what it resolves with is called. */
  inject(...faults: string[]): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

/** Codes with which a queued write may end while the journal's disk is not well, and a live one with it. */
const EXPECTED = ['write_buffer_unavailable', 'write_buffer_halted', 'database_timeout', 'timeout'];

export interface DiskWorldOptions {
  readonly folder?: string;
  /** Section of sidecar.json. */
  readonly writeBehind?: object;
  /** The command by which processes are run, where they shall see another disk. */
  readonly wrapper?: readonly string[];
}

export async function openDiskWorld(seed: number, options: DiskWorldOptions = {}): Promise<DiskWorld> {
  const { folder = testFolder(), writeBehind = {}, wrapper = [] } = options;
  const config = bufferedConfig(DATABASE, { flushIntervalMs: 100, flushAtPending: 50, ...writeBehind });
  const spawn = () => spawnSidecar(folder, config, {}, undefined, wrapper);
  let sidecar = await spawn();
  await prepareTables(sidecar.client, WRITERS);
  return {
    folder,
    load: new Load({ writers: WRITERS, seed, expectedCodes: EXPECTED }),
    get sidecar() {
      return sidecar;
    },
    async start() {
      sidecar = await spawn();
    },
    inject: (...faults) => injectInto(sidecar, journalOf(folder), faults),
    async stop() {
      await sidecar.kill();
    },
  };
}

/** Everything once, in order; and again after a kill, since a write that failed may come to light at the next start. */
export async function expectAllRight(world: DiskWorld, seed: number): Promise<void> {
  world.load.end();
  await flush(world.sidecar.client);
  expect(await world.load.judge(world.sidecar.client), `WRITE_BEHIND_SEED=${seed}`).toEqual([]);
  if (world.sidecar.child.exitCode === null) await endProcess(world.sidecar, 'SIGKILL');
  await world.start();
  expect(await flush(world.sidecar.client)).toMatchObject({ remaining: 0, deadLettered: 0, halted: false });
  expect(await world.load.judge(world.sidecar.client), `WRITE_BEHIND_SEED=${seed}`).toEqual([]);
}

export function journalOf(folder: string): string {
  return join(folder, 'data/journal');
}

async function injectInto({ pid }: SidecarProcess, journal: string, faults: string[]): Promise<() => Promise<void>> {
  const options = [
    ...segmentsOf(journal).flatMap((file) => ['-P', join(journal, file)]),
    ...['-e', `trace=${faults.map((fault) => fault.split(':')[0])}`],
    ...faults.flatMap((fault) => ['-e', `inject=${fault}`]),
  ];
  const tracer = await attachStrace(await provideStrace(() => {}), pid, options);
  return () => detachStrace(tracer);
}

/** Names of the journal's segments, and of those that come next. */
function segmentsOf(journal: string): string[] {
  const names = readdirSync(journal).filter((name) => /^\d+\.log$/.test(name));
  const last = names.toSorted().at(-1);
  if (last === undefined) throw new Error('the journal has no segment by the name that this test knows');
  const digits = last.length - '.log'.length;
  const ahead = Array.from({ length: SEGMENTS_AHEAD }, (_, i) => Number.parseInt(last, 10) + 1 + i);
  return [...names, ...ahead.map((number) => `${String(number).padStart(digits, '0')}.log`)];
}
