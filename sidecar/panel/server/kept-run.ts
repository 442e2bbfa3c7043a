import type { SettingValues } from '../settings/panel-settings.ts';

/** State of the server control for the next sidecar, kept by the owner of the process. */
export interface KeptRun {
  readonly phase: 'stopped' | 'crashed' | 'live' | 'stopping';
  readonly startedAt: string | null;
  readonly isUp: boolean;
  readonly isToStart: boolean;
  /** Settings by which the run was started. */
  readonly backend: SettingValues['backend'];
  readonly serverRoot: string;
}

/** Null for a note of another version of this program. */
export function readKeptRun(note: string | null): KeptRun | null {
  try {
    const kept = JSON.parse(note ?? 'null') as KeptRun | null;
    return typeof kept?.phase === 'string' && typeof kept.backend === 'string' ? kept : null;
  } catch {
    return null;
  }
}
