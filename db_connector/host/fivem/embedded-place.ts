import { join, resolve, sep } from 'node:path';
import type { EmbeddedPlace } from '../../embedded/embedded-place.ts';
import type { FxServer } from './fx-server.ts';

const PROGRAM = 'sidecar/main.js';
const DATA = 'db_connector_data';

/**
 * The connector's own sidecar below FXServer. The sandbox keeps this process out of every folder but the resource's, so
 * that only the child touches its data, which lies beside `resources/` (contract section 8).
 */
export function embeddedPlace(
  fx: Pick<FxServer, 'GetResourcePath' | 'LoadResourceFile'>,
  resource: string,
): EmbeddedPlace {
  const bundleFolder = resolve(fx.GetResourcePath(resource));
  const base = besideResources(bundleFolder);
  return {
    program: join(bundleFolder, PROGRAM),
    bundleFolder,
    hasProgram: () => typeof fx.LoadResourceFile(resource, PROGRAM) === 'string',
    folder: join(base, DATA),
    base,
    nodeSetting: 'set db_connector_node "…" in server.cfg',
    permissionHint: `put the line "add_unsafe_child_process_permission ${resource}" into server.cfg, before "ensure ${resource}", and start the server again`,
  };
}

/** Resources may lie in folders of folders, `resources/[core]/db_connector`; in no `resources` at all, beside the resource. */
function besideResources(bundleFolder: string): string {
  const steps = bundleFolder.split(sep);
  const at = steps.lastIndexOf('resources');
  return at > 0 ? steps.slice(0, at).join(sep) || sep : join(bundleFolder, '..');
}
