import { defineConfig } from 'vitest/config';
import { chosenEngines, excludedEngines, isServerEngine, type TestedEngine } from './scripts/servers/chosen-engines.ts';
import { LongestFirst } from './test/support/longest-first.ts';
import { TEST_SEED } from './test/support/test-seed.ts';

/** Once on every engine. */
const CONTRACT_TESTS = ['test/contract/**/*.test.ts', 'test/e2e/write-behind-kill.test.ts'];
/** Tests of one engine each, against its server, whose names begin with the engine's; and those that move rows. */
const ENGINE_TESTS = ['test/unit/engine/{postgres,mysql,mongo}*.test.ts', 'test/moving/*.test.ts'];
const PROVIDE_SERVERS = './test/support/provide-servers.ts';
const COMPILE_CACHE = './test/support/compile-cache.ts';

const excludedTests = excludedEngines(process.env).flatMap((engine) => [
  `test/unit/engine/${engine === 'mongodb' ? 'mongo' : engine}*.test.ts`,
  `test/faults/{,write-behind-}${engine}*.test.ts`,
  `test/moving/${engine}*.test.ts`,
]);

/** The same programs on every engine. What failed is printed as `DIFFERENTIAL_SEED=…`, which replays it. */
const [seed, ...path] = (process.env.DIFFERENTIAL_SEED ?? String(TEST_SEED)).split(':');
const differential = {
  programs: Number(process.env.DIFFERENTIAL_PROGRAMS ?? 120),
  seed: Number(seed),
  path: path.join(':'),
};

/** The contract suite on one engine. */
function contractOn(engine: TestedEngine) {
  return {
    extends: true as const,
    test: {
      name: `contract:${engine}`,
      include: CONTRACT_TESTS,
      provide: { engine, differential },
      // Four servers share the processors with the tests.
      testTimeout: 90_000,
      hookTimeout: 120_000,
      globalSetup: isServerEngine(engine) ? [COMPILE_CACHE, PROVIDE_SERVERS] : [COMPILE_CACHE],
    },
  };
}

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // The default, one second, is less than a busy machine stalls.
    expect: { poll: { timeout: 30_000 } },
    // Of programs that tests start with a configuration of their own making: no two want the same port, none the network.
    env: { SIDECAR_PANEL_PORT: '0', SIDECAR_PANEL_BRIDGE_HOST: '127.0.0.1' },
    setupFiles: ['./test/support/test-seed.ts'],
    // Machines stall. What needed its second attempt is named at the end of the run (scripts/check/counts.ts).
    retry: process.env.CI ? 1 : 0,
    projects: [
      {
        extends: true,
        test: {
          name: 'sidecar',
          include: ['test/**/*.test.ts'],
          exclude: [...CONTRACT_TESTS, ...ENGINE_TESTS, ...excludedTests],
          globalSetup: [COMPILE_CACHE],
        },
      },
      {
        extends: true,
        test: {
          name: 'engines',
          include: ENGINE_TESTS,
          exclude: excludedTests,
          globalSetup: [COMPILE_CACHE, PROVIDE_SERVERS],
        },
      },
      ...chosenEngines(process.env).map(contractOn),
    ],
  },
});
