import type { Backend } from '../shapes/server.ts';
import type { ConnectorAccess } from './connector-access.ts';
import { installFxServer } from './install-fxserver.ts';
import type { Installed, JobTask } from './install-job.ts';
import { installStandalone } from './install-standalone.ts';
import type { ShippedFiles } from './shipped-files.ts';

/** Installs the files that each kind of server needs in its folder. */
export function installServer(
  backend: Backend,
  root: string,
  shipped: ShippedFiles,
  access: () => ConnectorAccess,
  task: JobTask,
): Promise<Installed> {
  switch (backend) {
    case 'standalone':
      return installStandalone(root, shipped, access, task);
    case 'fxserver':
      return installFxServer(root, shipped, access, task);
    case 'command':
    case 'none':
      return Promise.resolve({ serverRoot: root, made: [], kept: [], notes: [], startLine: '' });
    default:
      return backend satisfies never;
  }
}
