import { compareFolder } from './compare-folder.ts';
import { inspectZip } from './inspect-zip.ts';
import { removeFolder } from './remove-folder.ts';
import { sealFolder } from './seal-folder.ts';
import { unpackServer } from './unpack-server.ts';
import { unpackZip } from './unpack-zip.ts';

/** Tasks by name: `runWork('seal-folder', …)`. */
export const TASKS = {
  'seal-folder': sealFolder,
  'compare-folder': compareFolder,
  'remove-folder': removeFolder,
  'inspect-zip': inspectZip,
  'unpack-zip': unpackZip,
  'unpack-server': unpackServer,
};
