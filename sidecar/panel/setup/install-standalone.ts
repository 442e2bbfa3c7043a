import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pretty } from '#sidecar/config/first-start.ts';
import { writeNew } from '#sidecar/config/new-file.ts';
import type { ConnectorAccess } from './connector-access.ts';
import type { Installed, JobTask } from './install-job.ts';
import { InstallRefused } from './install-refused.ts';
import { isThere, OwnFolder } from './own-folder.ts';
import { deliver, prepare } from './put-in-place.ts';
import type { ShippedFiles } from './shipped-files.ts';

/** Installs folders, the connector, the sample, `vfs/database.json` (panel contract, "Values"). Replaces no existing file. */
export async function installStandalone(
  root: string,
  shipped: ShippedFiles,
  access: () => ConnectorAccess,
  { signal, tell }: JobTask,
): Promise<Installed> {
  const { connector, sample } = shipped;
  if (connector === null || sample === null) {
    throw new InstallRefused(
      'this package of the sidecar comes without the standalone server; choose another server type',
    );
  }
  const own = new OwnFolder(root);
  try {
    tell(0.05, 'makes the folders');
    own.makeRoot();
    const bundles = own.folder('bundles');
    const vfs = own.folder('vfs');
    tell(0.1, 'copies db_connector');
    const first = await prepare(own, connector, bundles, 'bundle.json', signal);
    tell(0.7, 'copies the sample bundle');
    const second = await prepare(own, sample, bundles, 'bundle.json', signal);
    signal.throwIfAborted();
    // Synchronous from here to the end, so that a cancel finds all of it or nothing.
    tell(0.9, 'writes the configuration');
    const made = [first, second].filter(({ staged }) => staged !== null).map(({ name }) => `bundles/${name}`);
    const kept = [first, second].filter(({ staged }) => staged === null).map(({ name }) => `bundles/${name}`);
    deliver(first);
    deliver(second);
    const notes = writeDatabaseFile(own, vfs, access);
    (notes === null ? kept : made).push('vfs/database.json');
    return { serverRoot: root, made, kept, notes: notes ?? [], startLine: '' };
  } finally {
    own.takeBack();
  }
}

/** @returns notes for the owner; null if the file exists, which stays. The secret is beside it, readable for the server's user only. */
function writeDatabaseFile(own: OwnFolder, vfs: string, access: () => ConnectorAccess): readonly string[] | null {
  const file = join(vfs, 'database.json');
  if (isThere(file)) return null;
  const { url, keyId, secret, namespaces, notes } = access();
  if (isThere(join(vfs, 'secrets'))) own.within(join(vfs, 'secrets'), 'folder');
  const secretFile = writeSecret(vfs, keyId, secret);
  return writeNew(file, pretty({ url, keyId, secretFile, namespaces })) ? notes : null;
}

/** Uses another name if a file of that name has another content. */
function writeSecret(vfs: string, keyId: string, secret: string): string {
  const most = 100;
  for (let count = 1; count <= most; count += 1) {
    const name = `secrets/${keyId}${count === 1 ? '' : `-${count}`}.secret`;
    if (writeNew(join(vfs, name), `${secret}\n`) || readFileSync(join(vfs, name), 'utf8').trim() === secret)
      return name;
  }
  throw new InstallRefused(`${join(vfs, 'secrets')} holds ${most} files for the key ${keyId}; move some away`);
}
