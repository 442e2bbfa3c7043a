import { statSync } from 'node:fs';
import { join } from 'node:path';
import { PanelError } from '../panel-error.ts';
import type { FolderProblem, RefusedFolder } from '../shapes/error-keys.ts';
import { BACKENDS, type Backend, type ServerStatus } from '../shapes/server.ts';
import type { PanelSettings } from './panel-settings.ts';
import { folderDetails, readServerRoot } from './server-root.ts';

export interface ServerPathOptions {
  readonly settings: PanelSettings;
  readonly status: () => Pick<ServerStatus, 'state' | 'plan'>;
  /** Folders of the sidecar, in which no game server may write. */
  readonly reserved: readonly string[];
}

interface Needed {
  readonly name: string;
  readonly isFolder: boolean;
  /** Refusal of a folder that lacks the file. */
  readonly problem: FolderProblem;
}

/** File that a folder must contain for this kind of server to start in it. */
const NEEDED: Readonly<Record<Backend, Needed | null>> = {
  standalone: { name: 'bundles', isFolder: true, problem: 'folder-noBundles' },
  fxserver: { name: 'server.cfg', isFolder: false, problem: 'folder-noConfig' },
  command: null,
  none: null,
};

/** Folder of the game server. An account that chooses the folder chooses the program that runs. */
export class ServerPath {
  readonly #options: ServerPathOptions;

  constructor(options: ServerPathOptions) {
    this.#options = options;
  }

  /**
   * Changes the folder, the kind of server, or both: a wrong choice at the setup can be corrected.
   *
   * Checks and changes in one synchronous step, so that no start comes between.
   *
   * @returns the new values, for the audit log
   * @throws PanelError `settings.serverRoot`, `settings.backend`, `server.running`
   */
  change(given: { readonly serverRoot?: unknown; readonly backend?: unknown }): string {
    const { settings, status, reserved } = this.#options;
    const before = settings.values;
    const { backend = before.backend } = given;
    if (!isBackend(backend)) throw new PanelError('settings.backend', { field: 'backend' });
    const isKindOnly = given.serverRoot === undefined && given.backend !== undefined;
    const root = readServerRoot(isKindOnly ? before.serverRoot : given.serverRoot, backend, reserved);
    if ('problem' in root) throw refused(root);
    const found = root.path === '' ? null : problemIn(root.path, backend);
    if (found !== null) throw refused(found);
    const { state, plan } = status();
    const isStill = state === 'stopped' || (state === 'crashed' && plan === null);
    if (!isStill) throw new PanelError('server.running');
    const changes = {
      ...(root.path === before.serverRoot ? {} : { serverRoot: root.path }),
      ...(backend === before.backend ? {} : { backend }),
    };
    if (Object.keys(changes).length > 0) settings.update(changes);
    return `${backend} ${root.path}`.trimEnd();
  }
}

function problemIn(path: string, backend: Backend): RefusedFolder | null {
  const needed = NEEDED[backend];
  if (needed === null) return null;
  if (statSync(path, { throwIfNoEntry: false }) === undefined) {
    return { problem: 'folder-missing', folder: path };
  }
  const found = statSync(join(path, needed.name), { throwIfNoEntry: false });
  const isThere = needed.isFolder ? found?.isDirectory() : found?.isFile();
  return isThere === true ? null : { problem: needed.problem, folder: path };
}

function isBackend(given: unknown): given is Backend {
  return (BACKENDS as readonly unknown[]).includes(given);
}

function refused(root: RefusedFolder): PanelError {
  return new PanelError('settings.serverRoot', { field: 'serverRoot', ...folderDetails(root) });
}
