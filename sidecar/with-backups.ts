import { BackupLease } from './backup/backup-lease.ts';
import { ScheduledBackups, scheduleText } from './backup/scheduled-backups.ts';
import { ScheduledDrills } from './backup/scheduled-drills.ts';
import type { SidecarConfig } from './config/load-config.ts';
import type { EngineLog } from './engine/log.ts';
import type { Log } from './log.ts';
import { LOG_EVENT } from './log-event.ts';
import type { RunningSidecar } from './serve.ts';

const FIRST_AFTER_MS = 600_000;

/** A sidecar that also makes backups and tries them out when it is due, and gives up what runs when it is stopped. */
export function withBackups(running: RunningSidecar, config: SidecarConfig, log: Log, isNew = false): RunningSidecar {
  const engineLog: EngineLog = (level, message, fields) => log[level](message, fields);
  const program = process.argv[1] as string;
  const { backup, dataFolder, file: configFile } = config;
  const options = { backup, dataFolder, configFile, program, log: engineLog };
  const { schedule, folder } = backup;
  if (schedule !== null) {
    const facts = { event: LOG_EVENT.backupPlan, when: scheduleText(schedule), folder };
    log.info('backups are made by themselves', { ...facts, offMachine: backup.remote !== null });
  }
  const lease = new BackupLease(running.engine);
  const backups = ScheduledBackups.start({ ...options, lease, firstAt: isNew ? Date.now() + FIRST_AFTER_MS : 0 });
  const leases = { backups: lease, drills: new BackupLease(running.engine, 'backup drill') };
  const drills = ScheduledDrills.start({ ...options, leases });
  return {
    ...running,
    stop: async (keepsServer) => {
      await Promise.all([backups?.stop(), drills?.stop(), running.stop(keepsServer)]);
    },
  };
}
