import { ScheduledBackups } from './backup/scheduled-backups.ts';
import type { SidecarConfig } from './config/load-config.ts';
import type { EngineLog } from './engine/log.ts';
import type { Log } from './log.ts';
import type { RunningSidecar } from './serve.ts';

/** A sidecar that also makes backups when they are due, and gives up one that runs when it is stopped. */
export function withBackups(running: RunningSidecar, config: SidecarConfig, log: Log): RunningSidecar {
  const engineLog: EngineLog = (level, message, fields) => log[level](message, fields);
  const program = process.argv[1] as string;
  const { backup, dataFolder, file: configFile } = config;
  const backups = ScheduledBackups.start({ backup, dataFolder, configFile, program, log: engineLog });
  return {
    ...running,
    stop: async (keepsServer) => {
      await Promise.all([backups?.stop(), running.stop(keepsServer)]);
    },
  };
}
