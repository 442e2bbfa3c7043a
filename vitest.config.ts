import { defineConfig } from 'vitest/config';
import { chosenEngines, excludedEngines, isServerEngine, type TestedEngine } from './scripts/servers/chosen-engines.ts';

const CONTRACT_TESTS = 'test/contract/**/*.test.ts';
/** Tests of one engine each, against its server. Their names begin with the engine's. */
const ENGINE_TESTS = 'test/unit/engine/{postgres,mysql,mongo}*.test.ts';
const PROVIDE_SERVERS = './test/support/provide-servers.ts';

const excludedTests = excludedEngines(process.env).map(
  (engine) => `test/unit/engine/${engine === 'mongodb' ? 'mongo' : engine}*.test.ts`,
);

/** The contract suite on one engine. */
function contractOn(engine: TestedEngine) {
  return {
    extends: true as const,
    test: {
      name: `contract:${engine}`,
      include: [CONTRACT_TESTS],
      provide: { engine },
      globalSetup: isServerEngine(engine) ? [PROVIDE_SERVERS] : [],
    },
  };
}

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'sidecar',
          include: ['test/**/*.test.ts'],
          exclude: [CONTRACT_TESTS, ENGINE_TESTS, ...excludedTests],
        },
      },
      {
        extends: true,
        test: { name: 'engines', include: [ENGINE_TESTS], exclude: excludedTests, globalSetup: [PROVIDE_SERVERS] },
      },
      ...chosenEngines(process.env).map(contractOn),
    ],
  },
});
