import { statfs } from 'node:fs/promises';
import { PanelError } from './panel-error.ts';

/** Room that stays free for the database, the journal and the logs. */
const RESERVE_BYTES = 64 * 2 ** 20;

/** Before much is written. @throws PanelError `disk.full` if the disk of `folder` has less room than `bytes` and a reserve */
export async function checkDiskSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free >= bytes + RESERVE_BYTES) return;
  const [has, needs] = [free, bytes + RESERVE_BYTES].map((size) => Math.ceil(size / 2 ** 20));
  throw new PanelError('disk.full', { detail: `the disk of ${folder} has ${has} MiB free and needs ${needs} MiB` });
}
