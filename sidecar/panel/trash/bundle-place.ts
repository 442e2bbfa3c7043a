import { lstat, mkdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PanelError } from '../panel-error.ts';
import { BUNDLES_FOLDER } from '../settings/bundles-folder.ts';
import type { SettingValues } from '../settings/panel-settings.ts';
import type { BundleInfo } from '../shapes/bundles.ts';

export interface BundlePlace {
  /** Folder of all bundles, links resolved: `bundles/` itself may be a link or a mount. */
  readonly bundles: string;
  /** `.panel` beside it, on the same disk, so that renaming moves a bundle. */
  readonly own: string;
}

/** @throws PanelError `bundles.unavailable` if this kind of server has no folder of bundles */
export async function bundlePlace({ backend, serverRoot }: SettingValues): Promise<BundlePlace> {
  const name = BUNDLES_FOLDER[backend];
  if (name === null || serverRoot === '') throw unavailable('this kind of server has no folder of bundles');
  const folder = join(serverRoot, name);
  const bundles = await realpath(folder).catch(() => {
    throw unavailable(`there is no folder ${folder}`);
  });
  return { bundles, own: join(dirname(bundles), '.panel') };
}

/** Path of a bundle's folder below that of all bundles; on FXServer it lies in its `[folders]`. */
export function wayOf({ name, tags }: Pick<BundleInfo, 'name' | 'tags'>, { backend }: SettingValues): string {
  return backend === 'fxserver' ? join(...tags.map((tag) => `[${tag}]`), name) : name;
}

/**
 * The folder of the bundle, each part of it a real folder: nothing behind a link is read, moved or deleted.
 *
 * @throws PanelError `bundles.linked`, `bundleTools.unknown`
 */
export async function plainFolder(place: Pick<BundlePlace, 'bundles'>, way: string): Promise<string> {
  let path = place.bundles;
  for (const part of way.split(/[\\/]/)) {
    path = join(path, part);
    const stats = await lstat(path).catch(() => null);
    if (stats === null) throw new PanelError('bundleTools.unknown', { field: 'name' });
    if (!stats.isDirectory()) throw new PanelError('bundles.linked', { detail: `${path} is a link, not a folder` });
  }
  return path;
}

/** Makes the panel's own folder for a purpose, readable for its user only. */
export async function ownFolder(place: BundlePlace, name: string): Promise<string> {
  const path = join(place.own, name);
  for (const folder of [place.own, path]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if (!(await lstat(folder)).isDirectory()) throw new PanelError('bundles.linked', { detail: `${folder} is a link` });
  }
  return path;
}

export function unavailable(detail: string): PanelError {
  return new PanelError('bundles.unavailable', { detail });
}
