import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders: string[] = [];

/** A new empty folder, removed after the test file (`memory-folder.ts`). */
export function testFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sidecar-test-')));
  folders.push(folder);
  return folder;
}

export function removeTestFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
