import type { SettingValues } from '../settings/panel-settings.ts';
import type { Backend } from '../shapes/server.ts';
import type { SetupChoice, SetupDocument } from './setup-fields.ts';

/** A server that whoever starts the sidecar has chosen already, as `npm start` does: setup then only makes the account. */
export type ServerPreset = Pick<SettingValues, 'backend' | 'serverRoot'>;

/** The fields of the server that have to be given: those that nobody has preset, and a folder only where there is a server. */
export function neededServerFields(
  { backend }: SetupDocument,
  preset: ServerPreset | null,
): ('backend' | 'serverRoot')[] {
  if (preset !== null && backend === undefined) return [];
  return backend === 'none' ? ['backend'] : ['serverRoot', 'backend'];
}

export function withPreset(choice: SetupChoice, preset: ServerPreset | null): SetupChoice & ServerPreset {
  const { backend = preset?.backend ?? 'none' } = choice;
  const { serverRoot = backend === preset?.backend ? preset.serverRoot : '' } = choice;
  return { ...choice, backend, serverRoot };
}

export function isPreset({ backend, serverRoot }: ServerPreset, preset: ServerPreset | null): boolean {
  return preset !== null && serverKey(backend, serverRoot) === serverKey(preset.backend, preset.serverRoot);
}

/** One server in one folder. */
export function serverKey(backend: Backend, serverRoot: string): string {
  return `${backend}\n${serverRoot}`;
}
