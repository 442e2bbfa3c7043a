import type { SettingValues } from '../settings/panel-settings.ts';
import type { ServerStatus } from '../shapes/server.ts';
import type { ServerBackend } from './process/backends/backend.ts';
import type { EventSettings } from './shutdown-event.ts';
import type { StopRules } from './stop-ladder.ts';

/** The settings as the server control reads them at an event: an owner may shorten the waits while the server stops. */
export interface RunRules extends StopRules {
  /** After a crash, and with the panel. */
  readonly isAutoStart: boolean;
  readonly restartsHung: boolean;
  /** Something else runs the server. */
  readonly isElsewhere: boolean;
  readonly missing: ServerStatus['missing'];
  readonly events: EventSettings;
}

/** @param backend kind of the running server; null if none runs, or if it is a left group, which hears no line */
export function runRules(values: SettingValues, backend: ServerBackend | null): RunRules {
  return {
    stopLine: backend === null ? '' : values.stopLine || backend.defaultStopLine,
    stopWaitMs: values.stopWaitSeconds * 1000,
    killWaitMs: values.killWaitSeconds * 1000,
    isImmediate: values.shutdownMode === 'immediate',
    isAutoStart: values.autoStartServer,
    restartsHung: values.restartHungServer,
    isElsewhere: values.backend === 'none',
    missing: missingSetting(values),
    events: values,
  };
}

/** Setting without which no start can succeed, or null. */
export function missingSetting({ backend, startLine, serverRoot }: SettingValues): ServerStatus['missing'] {
  if (backend === 'none') return null;
  if (serverRoot === '') return 'serverRoot';
  return backend === 'command' && startLine.trim() === '' ? 'startLine' : null;
}
