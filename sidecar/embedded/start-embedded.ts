import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { createEmbedded } from '../config/first-start.ts';
import { Log, type LogSink } from '../log.ts';
import { LOG_EVENT } from '../log-event.ts';
import { type RunningSidecar, serve } from '../serve.ts';
import { withBackups } from '../with-backups.ts';
import { ConsoleLog } from './console-log.ts';
import { configFileIn, loadEmbeddedConfig } from './embedded-config.ts';
import { claimFolder } from './folder-claim.ts';
import { type HandOver, readHandOver } from './hand-over.ts';
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
  mkdirSync(join(folder, 'logs'), { recursive: true, mode: 0o700 });
  return new ConsoleLog(new LogFile(join(folder, 'logs/sidecar.log'), (line) => parent.write(line)), parent);
}

async function serveFolder(handOver: HandOver, sink: LogSink): Promise<RunningSidecar> {
  const log = new Log(sink);
  const file = configFileIn(handOver.folder);
  if (createEmbedded(file)) log.info('made a file that was missing', { event: LOG_EVENT.fileMade, file });
  const config = loadEmbeddedConfig(handOver, process.env);
  for (const warning of config.warnings) log.warn(warning);
  return withBackups(
    await serve({ config, log: sink, panel: { preset: PANEL_PRESET, isOptional: true, serverPid: process.ppid } }),
    config,
    log,
  );
}

/** Whether a start would find a good configuration; touches nothing. Without a `sidecar.json` one would be made. */
export async function checkEmbedded(input: Readable): Promise<void> {
  const handOver = await readHandOver(input);
  if (existsSync(configFileIn(handOver.folder))) loadEmbeddedConfig(handOver, process.env);
}
