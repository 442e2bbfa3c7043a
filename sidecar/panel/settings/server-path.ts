import { statSync } from 'node:fs';
import { join } from 'node:path';
import { PanelError } from '../panel-error.ts';
import type { Backend, ServerStatus } from '../shapes/server.ts';
import type { PanelSettings } from './panel-settings.ts';
import { readServerRoot } from './server-root.ts';

export interface ServerPathOptions {
  readonly settings: PanelSettings;
  readonly status: () => Pick<ServerStatus, 'state' | 'plan'>;
  /** Folders of the sidecar's own, in which no game server may write. */
  readonly reserved: readonly string[];
}

/** What a folder must hold for this kind of server to start in it. */
const NEEDED: Readonly<Record<Backend, { readonly name: string; readonly isFolder: boolean } | null>> = {
  standalone: { name: 'bundles', isFolder: true },
  fxserver: { name: 'server.cfg', isFolder: false },
  command: null,
  none: null,
};

/** Where the game server lies. Whoever chooses it chooses what program runs. */
export class ServerPath {
  readonly #options: ServerPathOptions;

  constructor(options: ServerPathOptions) {
    this.#options = options;
  }

  /**
   * Judged and changed in one go, so that no start comes between.
   *
   * @returns the folder
   * @throws PanelError `settings.serverRoot`, `server.running`
   */
  change(given: unknown): string {
    const { settings, status, reserved } = this.#options;
    const { backend, serverRoot } = settings.values;
    const root = readServerRoot(given, backend, reserved);
    if ('problem' in root) throw refused(root.problem);
    const problem = root.path === '' ? null : problemIn(root.path, backend);
    if (problem !== null) throw refused(problem);
    const { state, plan } = status();
    const isStill = state === 'stopped' || (state === 'crashed' && plan === null);
    if (!isStill) throw new PanelError('server.running');
    if (root.path !== serverRoot) settings.update({ serverRoot: root.path });
    return root.path;
  }
}

function problemIn(path: string, backend: Backend): string | null {
  const needed = NEEDED[backend];
  if (needed === null) return null;
  const found = statSync(join(path, needed.name), { throwIfNoEntry: false });
  const isThere = needed.isFolder ? found?.isDirectory() : found?.isFile();
  return isThere === true ? null : `there is no ${needed.isFolder ? 'folder' : 'file'} ${needed.name} in it`;
}

function refused(detail: string): PanelError {
  return new PanelError('settings.serverRoot', { field: 'serverRoot', detail });
}
