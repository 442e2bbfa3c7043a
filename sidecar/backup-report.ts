import type { Gauge } from './api/metrics.ts';
import { type BackupState, backupStateReader } from './backup/backup-state.ts';
import type { ContinuousBackup } from './backup/continuous/continuous-backup.ts';
import type { SidecarConfig } from './config/load-config.ts';

/** State of the backups in health and metrics. */
export interface BackupReport {
  readonly gauges: readonly Gauge[];
  /** Undefined if no backups are configured. */
  health(): BackupHealth | undefined;
}

export interface BackupHealth {
  /** Seconds since the newest backup on this machine; null for none. */
  readonly ageSeconds: number | null;
  /** Seconds since the newest backup off this machine. */
  readonly sentAgeSeconds: number | null;
  /** Whether the last drill has failed. */
  readonly drillFailed: boolean;
  /** With `backup.continuous`: seconds since everything was off the machine. */
  readonly lagSeconds?: number;
}

/** @param now epoch milliseconds */
export function backupReport(
  config: SidecarConfig,
  now: () => number,
  continuous: Pick<ContinuousBackup, 'lagSeconds'> | null,
): BackupReport {
  const { schedule, remote } = config.backup;
  if (schedule === null && remote === null) return { gauges: [], health: () => undefined };
  const read = backupStateReader(config);
  const gauge = (name: string, help: string, pick: (state: BackupState) => number): Gauge => ({
    ...{ name: `sidecar_backup_${name}`, help, type: 'gauge' },
    read: () => pick(read()),
  });
  const seconds = (time: number | null) => (time === null ? 0 : Math.floor(time / 1000));
  const age = (time: number | null) => (time === null ? null : Math.max(0, Math.floor((now() - time) / 1000)));
  return {
    gauges: [
      gauge('newest_timestamp_seconds', 'Newest backup on this machine; 0 for none.', ({ made }) => seconds(made)),
      gauge('sent_timestamp_seconds', 'Newest backup off this machine; 0 for none.', ({ sent }) => seconds(sent)),
      gauge('drill_timestamp_seconds', 'Last drill that succeeded; 0 for none.', ({ drilled }) => seconds(drilled)),
      ...(continuous === null
        ? []
        : [
            gauge('continuous_lag_seconds', 'Age of the newest write off this machine.', () => continuous.lagSeconds()),
          ]),
      gauge('drill_failed', '1 if the last drill has failed.', ({ hasDrillFailed }) => Number(hasDrillFailed)),
    ],
    health: () => {
      const { made, sent, hasDrillFailed } = read();
      const lag = continuous === null ? {} : { lagSeconds: Math.floor(continuous.lagSeconds()) };
      return { ageSeconds: age(made), sentAgeSeconds: age(sent), drillFailed: hasDrillFailed, ...lag };
    },
  };
}
