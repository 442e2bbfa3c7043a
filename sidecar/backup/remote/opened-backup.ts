import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { SidecarConfig } from '../../config/load-config.ts';
import { MoveRefused } from '../../moving/report.ts';
import { listBackups } from '../backup-folder.ts';
import { type Manifest, readManifest, type TableRows, tablesOf } from '../manifest.ts';
import { identitiesOf } from './identity.ts';
import { type RemoteBackup, RemoteBackups } from './remote-backups.ts';

export interface ListedRemote {
  readonly backups: readonly RemoteBackup[];
  readonly state: { readonly reachable: boolean; readonly error: string | null };
}

interface OpenOptions {
  readonly config: SidecarConfig;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** Also if the index knows its tables. */
  readonly mustOpen?: boolean;
}

export interface OpenedBackup {
  /** Folder of the backup; empty if it was not opened. */
  readonly path: string;
  readonly namespaces: readonly string[];
  readonly tables: readonly TableRows[];
}

const FOLDER = 'opened-backup';

/** Folder of opened backups. A process that was killed leaves one in it. */
export function openedFolder({ dataFolder }: Pick<SidecarConfig, 'dataFolder'>): string {
  return join(dataFolder, FOLDER);
}

/** Backups of this installation off the machine. A place that fails is part of the answer. */
export async function listRemoteBackups(
  config: SidecarConfig,
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<ListedRemote> {
  try {
    return await withRemote(config, environment, async (remote) => {
      const all = await remote.list(signal);
      const backups = all.filter(({ installation }) => installation === remote.installation);
      return { backups, state: { reachable: true, error: null } };
    });
  } catch (error) {
    return { backups: [], state: { reachable: false, error: (error as Error).message } };
  }
}

/** Runs `work` with a backup of the list, opened below the data if it is off the machine. @throws MoveRefused */
export async function withOpenedBackup<T>(
  { name, where }: { readonly name: string; readonly where: 'local' | 'remote' },
  options: OpenOptions,
  work: (backup: OpenedBackup) => Promise<T>,
): Promise<T> {
  const { config, environment } = options;
  if (where === 'local') {
    const found = listBackups(config.backup.folder).find((one) => one.name === name);
    if (found === undefined) throw new MoveRefused(`there is no backup ${name} in ${config.backup.folder} any more`);
    return work(openedOf(found.path, found.manifest));
  }
  const scratch = join(openedFolder(config), randomUUID());
  try {
    return await work(await withRemote(config, environment, (remote) => openRemote(name, remote, scratch, options)));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function openRemote(
  name: string,
  remote: RemoteBackups,
  scratch: string,
  { config, signal, mustOpen = false }: OpenOptions,
): Promise<OpenedBackup> {
  const found = (await remote.list(signal)).find(({ object }) => object === name);
  if (found === undefined) throw new MoveRefused(`there is no backup ${name} in ${remote.store.place} any more`);
  if (found.known !== null && !mustOpen) {
    const { namespaces, tables } = found.known;
    return { path: '', namespaces, tables };
  }
  const identities = await identitiesOf(null, config);
  const folder = join(scratch, found.backup);
  await remote.fetch(found, { folder, identities, signal });
  return openedOf(folder, readManifest(folder));
}

function openedOf(path: string, manifest: Manifest): OpenedBackup {
  return { path, namespaces: manifest.namespaces.map(({ name }) => name), tables: tablesOf(manifest) };
}

async function withRemote<T>(
  config: SidecarConfig,
  environment: NodeJS.ProcessEnv,
  work: (remote: RemoteBackups) => Promise<T>,
): Promise<T> {
  const remote = await RemoteBackups.open(config, environment);
  return work(remote).finally(() => remote.close());
}
