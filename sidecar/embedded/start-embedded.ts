import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { createEmbedded } from '../config/first-start.ts';
import { Log, type LogSink } from '../log.ts';
import { type RunningSidecar, serve } from '../serve.ts';
import { withBackups } from '../with-backups.ts';
import { ConsoleLog } from './console-log.ts';
import { configFileIn, loadEmbeddedConfig } from './embedded-config.ts';
import { claimFolder } from './folder-claim.ts';
import { type HandOver, readHandOver } from './hand-over.ts';
import { LogFile } from './log-file.ts';

/**
 * The sidecar of a game server (contract section 8, "Embedded sidecar"): told what to do on standard input, everything in
 * one folder, up to the line `listening`. The folder is this process's until it ends.
 *
 * @throws ConfigError
 */
export async function startEmbedded(input: Readable, parent: LogSink): Promise<RunningSidecar> {
  const handOver = await readHandOver(input);
  const { folder } = handOver;
  const lock = await claimFolder(folder);
  try {
    const running = await serveFolder(handOver, parent);
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

async function serveFolder(handOver: HandOver, parent: LogSink): Promise<RunningSidecar> {
  const { folder } = handOver;
  mkdirSync(join(folder, 'logs'), { recursive: true, mode: 0o700 });
  const sink = new ConsoleLog(new LogFile(join(folder, 'logs/sidecar.log'), (line) => parent.write(line)), parent);
  const log = new Log(sink);
  const file = configFileIn(folder);
  if (createEmbedded(file)) log.info('made a file that was missing', { file });
  const config = loadEmbeddedConfig(handOver, process.env);
  for (const warning of config.warnings) log.warn(warning);
  return withBackups(await serve({ config, log: sink }), config, log);
}

/** Whether a start would find a good configuration; touches nothing. Without a `sidecar.json` one would be made. */
export async function checkEmbedded(input: Readable): Promise<void> {
  const handOver = await readHandOver(input);
  if (existsSync(configFileIn(handOver.folder))) loadEmbeddedConfig(handOver, process.env);
}
