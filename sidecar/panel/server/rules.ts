import type { SettingValues } from '../settings/panel-settings.ts';
import type { ServerStatus } from '../shapes/server.ts';
import type { ServerBackend } from './process/backends/backend.ts';

/** How a server is ended. */
export interface RunRules {
  /** Empty: there is nothing to type. */
  readonly stopLine: string;
  readonly stopWaitMs: number;
  readonly killWaitMs: number;
  readonly isImmediate: boolean;
}

/** @param backend null: a group that an earlier sidecar has left, which hears no line */
export function runRules(values: SettingValues, backend: ServerBackend | null): RunRules {
  return {
    stopLine: backend?.stopLine(values) ?? '',
    stopWaitMs: values.stopWaitSeconds * 1000,
    killWaitMs: values.killWaitSeconds * 1000,
    isImmediate: values.shutdownMode === 'immediate',
  };
}

/** Setting without which no start can succeed, or null. */
export function missingSetting(
  values: Pick<SettingValues, 'backend' | 'startLine' | 'serverRoot'>,
): ServerStatus['missing'] {
  const { backend, startLine, serverRoot } = values;
  if (backend === 'none') return null;
  if (serverRoot === '') return 'serverRoot';
  return backend === 'command' && startLine.trim() === '' ? 'startLine' : null;
}
