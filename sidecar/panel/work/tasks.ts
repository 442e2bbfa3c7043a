import { compareFolder } from './compare-folder.ts';
import { removeFolder } from './remove-folder.ts';
import { sealFolder } from './seal-folder.ts';

/** Tasks by name: `runWork('seal-folder', …)`. */
export const TASKS = {
  'seal-folder': sealFolder,
  'compare-folder': compareFolder,
  'remove-folder': removeFolder,
};
