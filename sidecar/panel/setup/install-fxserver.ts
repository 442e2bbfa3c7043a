import { readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pretty } from '#sidecar/config/first-start.ts';
import { replaceFile, writeNew } from '#sidecar/config/new-file.ts';
import type { ConnectorAccess } from './connector-access.ts';
import { findFxServer, findResource, fxStartLine } from './find-fxserver.ts';
import type { Installed, JobTask } from './install-job.ts';
import { InstallRefused } from './install-refused.ts';
import { isThere, OwnFolder } from './own-folder.ts';
import { deliver, prepare } from './put-in-place.ts';
import { CONNECTOR_CFG, connectorCfg, namesConnector, withConnector } from './server-cfg-lines.ts';
import type { ShippedFiles } from './shipped-files.ts';

/** Puts `db_connector` below `resources/` and lines into `server.cfg`; keeps all of the owner's (panel contract, "Values"). */
export async function installFxServer(
  root: string,
  shipped: ShippedFiles,
  access: () => ConnectorAccess,
  { signal, tell }: JobTask,
): Promise<Installed> {
  const own = new OwnFolder(root);
  try {
    tell(0.05, 'looks at the server');
    const text = readServerCfg(root);
    const program = findFxServer(root);
    const found = { made: [] as string[], kept: [] as string[], notes: notesOn(program) };
    tell(0.1, 'copies db_connector');
    const resource = await placeResource(own, shipped, signal, found);
    tell(0.9, 'writes the lines for server.cfg');
    if (namesConnector(text)) found.kept.push('server.cfg');
    else writeLines(own, access(), resource, found);
    return { serverRoot: root, ...found, startLine: program === null ? '' : fxStartLine(root, program) };
  } finally {
    own.takeBack();
  }
}

type Found = { readonly made: string[]; readonly kept: string[]; readonly notes: string[] };

function notesOn(program: string | null): string[] {
  return program === null
    ? [
        'FXServer itself was not found here; write the line that starts it into the settings, such as "/srv/fx/run.sh" +exec server.cfg',
      ]
    : [];
}

/** Read as one character per byte, since the owner's encoding is unknown. */
function readServerCfg(root: string): string {
  const file = join(root, 'server.cfg');
  if (!isThere(file) || !statSync(file).isFile()) {
    throw new InstallRefused(
      `there is no server.cfg in ${root}; choose the folder that holds server.cfg and resources`,
    );
  }
  return readFileSync(file, 'latin1');
}

/** @returns the resource's folder: the owner's own if there is one anywhere below `resources/` */
async function placeResource(
  own: OwnFolder,
  shipped: ShippedFiles,
  signal: AbortSignal,
  found: Found,
): Promise<string> {
  const present = findResource(join(own.root, 'resources'), 'db_connector');
  if (present !== null) {
    found.kept.push(relative(own.root, present));
    return present;
  }
  if (shipped.connector === null) {
    throw new InstallRefused(
      'this package of the sidecar comes without db_connector; copy that folder out of its zip into resources, then install again',
    );
  }
  const resources = own.folder('resources');
  const delivery = await prepare(own, shipped.connector, resources, 'fxmanifest.lua', signal);
  signal.throwIfAborted();
  deliver(delivery);
  found.made.push('resources/db_connector');
  return delivery.target;
}

/** Writes `server.cfg` last: a server that starts before that finds all files that its lines name. */
function writeLines(own: OwnFolder, access: ConnectorAccess, resource: string, found: Found): void {
  const { url, keyId, secret, namespaces, notes } = access;
  if (/["\\\s]/.test(secret)) {
    throw new InstallRefused(`the secret of key ${keyId} cannot stand in server.cfg; "keys new" makes one that can`);
  }
  const cfg = own.within(join(own.root, 'server.cfg'), 'file');
  const vfs = join(resource, 'vfs');
  own.within(isThere(vfs) ? vfs : resource, 'folder');
  if (writeNew(join(vfs, 'database.json'), pretty({ url, keyId, namespaces }))) {
    found.made.push(relative(own.root, join(resource, 'vfs/database.json')));
  }
  const lines = join(own.root, CONNECTOR_CFG);
  if (writeNew(lines, connectorCfg(url, keyId, secret))) found.made.push(CONNECTOR_CFG);
  else found.kept.push(CONNECTOR_CFG);
  const now = readFileSync(cfg, 'latin1');
  replaceFile(cfg, Buffer.from(withConnector(now), 'latin1'), statSync(cfg).mode & 0o777);
  found.made.push('server.cfg');
  found.notes.push(...notes);
}
