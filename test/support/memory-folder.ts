import { afterAll, expect } from 'vitest';
import { memoryFolder } from '#scripts/servers/memory-folder.ts';
import { removeTestFolders } from './test-folder.ts';

const IN_MEMORY = /\/test\/(contract|api|engine|cluster|panel|backup|stream|unit)\//;
/** Tests that judge what a kill or a fault leaves on a disk. */
const ON_DISK = /kill|crash|breakage|fault|away|restart|process|storage/;

/**
 * Set-up of each test file: temporary folders lie in memory if the test only needs a database, because SQLite and the journal
 * wait for the disk at every commit.
 */
function chooseTemporaryFolder(): void {
  const file = expect.getState().testPath ?? '';
  const isForDisk = !IN_MEMORY.test(file) || ON_DISK.test(file.slice(file.lastIndexOf('/')));
  process.env.TMPDIR = (isForDisk ? undefined : memoryFolder()) ?? process.env.TEST_DISK_FOLDER;
}

chooseTemporaryFolder();
afterAll(removeTestFolders);
