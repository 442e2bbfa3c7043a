import { statfsSync } from 'node:fs';
import { afterAll, expect } from 'vitest';
import { removeTestFolders } from './test-folder.ts';

const IN_MEMORY = /\/test\/(contract|api|engine|cluster)\//;
/** Tests that judge what a kill or a fault leaves on a disk. */
const ON_DISK = /kill|crash|breakage|fault|away|restart|process|storage/;
const MEMORY = '/dev/shm';
/** A container may have as little as 64 MB there. */
const ENOUGH_BYTES = 4 * 2 ** 30;

function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ENOUGH_BYTES;
  } catch {
    return false;
  }
}

/**
 * Set-up of each test file: temporary folders lie in memory if the test only needs a database, because SQLite and the journal
 * wait for the disk at every commit.
 */
function chooseTemporaryFolder(): void {
  const file = expect.getState().testPath ?? '';
  const isInMemory = IN_MEMORY.test(file) && !ON_DISK.test(file.slice(file.lastIndexOf('/'))) && hasMemory();
  process.env.TMPDIR = isInMemory ? MEMORY : process.env.TEST_DISK_FOLDER;
}

chooseTemporaryFolder();
afterAll(removeTestFolders);
