import type { SettingsDocument } from '#panel/shapes/settings.ts';
import { type Loaded, useLoaded } from '../core/use-loaded.ts';

/** Whether the owner has turned the bundle tools on; null until it is known. */
export function useSwitch(): {
  readonly isOn: boolean | null;
  readonly loaded: Loaded<{ settings: SettingsDocument }>;
} {
  const loaded = useLoaded<{ settings: SettingsDocument }>('/api/settings');
  return { isOn: loaded.data?.settings.bundleTools ?? null, loaded };
}
