import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ConnectorAccess } from '#panel/setup/connector-access.ts';
import type { JobTask } from '#panel/setup/install-job.ts';
import type { ShippedFiles } from '#panel/setup/shipped-files.ts';

export const ACCESS: ConnectorAccess = {
  url: 'http://127.0.0.1:20771',
  keyId: 'local',
  secret: 'a-secret-of-this-sidecar-that-is-long-enough',
  namespaces: ['game', 'stats'],
  notes: [],
};

export function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** As the build makes them, but small. */
export function shipFiles(folder: string): ShippedFiles {
  const connector = join(folder, 'db_connector');
  const sample = join(folder, 'sample_roleplay');
  for (const file of ['bundle.json', 'fxmanifest.lua', 'server.js', 'sidecar/main.js', 'vfs/database.example.json']) {
    write(join(connector, file), `db_connector ${file}`);
  }
  for (const file of ['bundle.json', 'server.js']) write(join(sample, file), `sample ${file}`);
  return { connector, sample };
}

/** A job that nobody watches. */
export function task(changes: Partial<JobTask> = {}): JobTask {
  return { signal: new AbortController().signal, tell: () => {}, ...changes };
}
