import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { ConfigError } from '../config/config-error.ts';
import { createEmbedded } from '../config/first-start.ts';
import { type FolderLock, lockFolder } from '../folder-lock.ts';
import { Log, type LogSink } from '../log.ts';
import { LOG_EVENT } from '../log-event.ts';
import { makeFolder } from '../make-folder.ts';
import { type RunningSidecar, serve } from '../serve.ts';
import { withBackups } from '../with-backups.ts';
import { ConsoleLog } from './console-log.ts';
import { configFileIn, type HandOver, loadEmbeddedConfig, readHandOver } from './hand-over.ts';
import { LogFile } from './log-file.ts';

/** A server that has started its sidecar cannot be started by it. */
const PANEL_PRESET = { backend: 'none' } as const;

/**
 * The sidecar of a game server (contract section 8, "Embedded sidecar"): told what to do on standard input, everything in
 * one folder, up to the line `listening`. The folder is this process's until it ends.
 *
 * @param useLog gets the log of the folder, once there is one
 * @throws ConfigError
 */
export async function startEmbedded(
  input: Readable,
  parent: LogSink,
  useLog: (sink: LogSink) => void,
): Promise<RunningSidecar> {
  const handOver = await readHandOver(input);
  const lock = await claimFolder(handOver.folder);
  try {
    const sink = openLog(handOver.folder, parent);
    useLog(sink);
    const running = await serveFolder(handOver, sink);
    return {
      ...running,
      async stop() {
        await running.stop();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function openLog(folder: string, parent: LogSink): LogSink {
  makeFolder(join(folder, 'logs'));
  return new ConsoleLog(new LogFile(join(folder, 'logs/sidecar.log'), (line) => parent.write(line)), parent);
}

async function serveFolder(handOver: HandOver, sink: LogSink): Promise<RunningSidecar> {
  const log = new Log(sink);
  const file = configFileIn(handOver.folder);
  const isNew = createEmbedded(file);
  if (isNew) log.info('made a file that was missing', { event: LOG_EVENT.fileMade, file });
  const config = loadEmbeddedConfig(handOver, process.env);
  for (const warning of config.warnings) log.warn(warning);
  return withBackups(
    await serve({
      config,
      log: sink,
      panel: { preset: PANEL_PRESET, isOptional: true, isEmbedded: true, serverPid: process.ppid },
    }),
    config,
    log,
    isNew,
  );
}

/** Whether a start would find a good configuration; touches nothing. Without a `sidecar.json` one would be made. */
export async function checkEmbedded(input: Readable): Promise<void> {
  const handOver = await readHandOver(input);
  if (existsSync(configFileIn(handOver.folder))) loadEmbeddedConfig(handOver, process.env);
}

/** A server that is started again at once meets the sidecar of the one before while that still writes its queue out. */
const PATIENCE_MS = 5000;
const ASK_AGAIN_MS = 100;

/**
 * Takes the data folder for this process, until it ends in whatever way. The lock is the system's, so that one left by a
 * dead process cannot exist; the text beside it only says who holds it.
 *
 * @throws ConfigError that names the holder
 */
async function claimFolder(folder: string, now: () => number = Date.now): Promise<FolderLock> {
  const data = join(folder, 'data');
  const holder = join(data, 'embedded.json');
  makeDataFolder(data, folder);
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const lock = await lockFolder(data, 'embedded.sqlite');
    if (lock !== null) {
      writeFileSync(holder, `${JSON.stringify({ pid: process.pid, since: new Date(now()).toISOString() })}\n`);
      return lock;
    }
    if (performance.now() > giveUpAt) {
      throw new ConfigError(
        `${folder} is in use by another sidecar (${describeHolder(holder)}): give each game server a folder of its own (sidecar.folder in its database.json; FXServer: set db_connector_folder), or stop the other one`,
      );
    }
    await pause(ASK_AGAIN_MS);
  }
}

function makeDataFolder(data: string, folder: string): void {
  try {
    makeFolder(data);
  } catch (error) {
    throw new ConfigError(
      `sidecar.folder: expected a folder that can be written, got ${(error as NodeJS.ErrnoException).code} for ${folder}`,
    );
  }
}

function describeHolder(file: string): string {
  try {
    const { pid, since } = JSON.parse(readFileSync(file, 'utf8')) as { pid: unknown; since: unknown };
    return `process ${Number(pid)}, since ${new Date(String(since)).toISOString()}`;
  } catch {
    return 'which one, its file does not say';
  }
}
