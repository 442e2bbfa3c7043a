import { open } from 'node:fs/promises';

/** A rename is on disk once its folder is; Windows has no such call. */
export async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}
