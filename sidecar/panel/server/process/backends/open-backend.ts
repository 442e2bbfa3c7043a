import type { SettingValues } from '#panel/settings/panel-settings.ts';
import type { BundleInfo } from '#panel/shapes/bundles.ts';
import { LaunchError, type ServerBackend } from './backend.ts';
import { commandBackend } from './command.ts';
import { fxserverBackend } from './fxserver.ts';
import { type StandalonePlace, standaloneBackend } from './standalone.ts';

/**
 * The place to add another kind of server.
 *
 * @param onBundles called by the kinds that report their bundles
 * @throws LaunchError if there is no server to start
 */
export function openBackend(
  values: SettingValues,
  standalone: StandalonePlace,
  onBundles: (bundles: readonly BundleInfo[]) => void,
): ServerBackend {
  switch (values.backend) {
    case 'standalone':
      return standaloneBackend(values, standalone, onBundles);
    case 'fxserver':
      return fxserverBackend(values);
    case 'command':
      return commandBackend(values);
    case 'none':
      throw new LaunchError('something else runs the server');
    default:
      return values.backend satisfies never;
  }
}
