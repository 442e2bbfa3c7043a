import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { isServerEngine, providerOf, type TestedEngine, urlVariableOf } from '#scripts/servers/chosen-engines.ts';
import { clusterUnderTest, databaseOf } from './cluster/cluster-under-test.ts';
import { freshDatabase } from './databases.ts';
import { testFolder } from './test-folder.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Engine of the contract suite in this project (vitest.config.ts). */
    readonly engine?: TestedEngine;
    /** The differential test: how many programs, and the seed, the same on every engine; with a path only that program. */
    readonly differential: { readonly programs: number; readonly seed: number; readonly path: string };
  }
}

/** An empty database on the engine under test. The caller drops it. */
export interface TestDatabase {
  /** `database` of sidecar.json. */
  readonly settings: Readonly<Record<string, unknown>>;
  drop(): Promise<void>;
}

/** SQLite outside the contract suite. */
function engineUnderTest(): TestedEngine {
  return inject('engine') ?? 'sqlite';
}

/** Null if a sidecar makes its own: a file in its folder. */
export async function ownDatabase(): Promise<TestDatabase | null> {
  return engineUnderTest() === 'sqlite' ? null : newDatabase();
}

export async function newDatabase(): Promise<TestDatabase> {
  const cluster = clusterUnderTest();
  if (cluster !== null) return databaseOf(cluster);
  const engine = engineUnderTest();
  if (!isServerEngine(engine)) {
    const folder = testFolder();
    return {
      settings: { provider: engine, file: join(folder, 'database.sqlite') },
      drop: async () => rmSync(folder, { recursive: true, force: true }),
    };
  }
  const serverUrl = process.env[urlVariableOf(engine)];
  if (serverUrl === undefined) throw new Error(`${urlVariableOf(engine)} is not set`);
  const provider = providerOf(engine);
  const { url, drop } = await freshDatabase(provider, serverUrl);
  return { settings: { provider, url }, drop };
}
