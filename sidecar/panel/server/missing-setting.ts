import type { SettingValues } from '../settings/panel-settings.ts';
import type { ServerStatus } from '../shapes/server.ts';

/** Setting without which no start can succeed, or null. */
export function missingSetting(
  values: Pick<SettingValues, 'backend' | 'startLine' | 'serverRoot'>,
): ServerStatus['missing'] {
  const { backend, startLine, serverRoot } = values;
  if (backend === 'none') return null;
  if (serverRoot === '') return 'serverRoot';
  return backend === 'command' && startLine.trim() === '' ? 'startLine' : null;
}
