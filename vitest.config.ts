import { tmpdir } from 'node:os';
import { defineConfig } from 'vitest/config';
import { chosenEngines, excludedEngines, isServerEngine, type TestedEngine } from './scripts/servers/chosen-engines.ts';
import { BUILT_THREADS } from './test/support/built-sidecar.ts';
import { poolOn } from './test/support/game-server-node.ts';
import { ISOLATED_TESTS } from './test/support/isolated-tests.ts';
import { LongestFirst } from './test/support/longest-first.ts';
import { TEST_SEED } from './test/support/test-seed.ts';

/** Once on every engine. */
const CONTRACT_TESTS = ['test/contract/**/*.test.ts', 'test/e2e/write-behind-kill.test.ts'];
/** Tests that wait for time limits, restarts and child processes on most of their way: more of them than processors at a time. */
const WAITING_TESTS = [
  'test/{e2e,faults}/**/*.test.ts',
  'test/unit/**/connections.test.ts',
  'test/stream/bounds.test.ts',
  'test/backup/server-recipes.test.ts',
];
const WAITING_ENGINE_TESTS = ['test/moving/*.test.ts', 'test/engine/*/connections.test.ts'];
/** Suites that run a second time with every signed call over a stream: sections 3 to 8 of the contract, on SQLite. */
const STREAM_TESTS = [
  'test/api/{authentication,body,limits,lock-out,network,permission,request-log,restart,server-timing,surface}.test.ts',
  'test/contract/data-{aggregate,filters,find,idempotency,refusals,roundtrip,sort,timeouts,types,upsert,write}.test.ts',
  'test/contract/{batch,batch-queued,concurrency,data-kill,data-two-sidecars,differential,odd-names,queue-calls}.test.ts',
  'test/contract/{schema-parts,schema-quarantine,schema-sync,unknown-names}.test.ts',
  'test/contract/write-behind{,-away,-limits,-refusals,-restart,-waiting}.test.ts',
];
/** Tests of what a game server loads. */
const CONNECTOR_TESTS = ['test/unit/{connector,helper,sample}/**/*.test.ts'];
/** Node.js of game servers; undefined if a run has none (`scripts/test.ts`). */
const { GAME_SERVER_NODE } = process.env;
/** Tests that run a second time on the Node.js of game servers. */
const GAME_SERVER_TESTS = ['test/unit/{connector,helper}/**/*.test.ts', 'test/e2e/{host-contract,fx-server}.test.ts'];
/** Suites of the connector that run a second time with its calls in a worker, beside which this thread may be slow. */
const WORKER_TESTS = [
  'test/unit/connector/{addresses,call-and-take-result,call-many,commands,connections,hanging-address,stream}.test.ts',
];
/** Section 8 a second time: the connector with every call over a stream. */
const STREAM_CONNECTOR_TESTS = [
  'test/unit/connector/{call-and-take-result,call-many,circuit-breaker,fairness,lying-api,waiting-and-results}.test.ts',
];
/** Tests of one engine each, on its server. */
const ENGINE_TESTS = ['test/engine/{postgres,mysql,mongo}/*.test.ts'];
/** Tests on clusters of their own: three nodes of Galera, a primary of PostgreSQL with its standby. */
const CLUSTER_TESTS = ['test/cluster/*.test.ts'];
/** Suites of the contract with each call at a random one of three sidecars, on a cluster that lasts as long as the file. */
const CLUSTER_CONTRACT_TESTS = ['test/cluster/contract.test.ts'];
/** Tests that judge how long an answer takes, less what the machine adds (`test/attacks/own-time.ts`). */
const TIMED_TESTS = ['test/attacks/**/*.test.ts'];
/** Its sidecar takes whole processors itself, so that nobody can tell what others add. */
const ALONE_TESTS = ['test/attacks/stuck-reader.test.ts'];
const PROVIDE_SERVERS = './test/support/provide-servers.ts';
/** Set-up of every project: its tests start the sidecar. */
const PROGRAMS = ['./test/support/compile-cache.ts', './test/support/built-sidecar.ts'];
const WORKER_PROGRAM = './test/support/worker-program.ts';

const excludedTests = excludedEngines(process.env).flatMap((engine) => [
  `test/engine/${engine === 'mongodb' ? 'mongo' : engine}/*.test.ts`,
  `test/faults/{,write-behind-}${engine}*.test.ts`,
  `test/moving/${engine}*.test.ts`,
  `test/cluster/${engine === 'mysql' ? '{galera,contract}' : engine}*.test.ts`,
]);

/** The same programs on every engine. A failure is printed as `DIFFERENTIAL_SEED=…`, which replays it. */
const [seed, ...path] = (process.env.DIFFERENTIAL_SEED ?? String(TEST_SEED)).split(':');
const differential = {
  programs: Number(process.env.DIFFERENTIAL_PROGRAMS ?? 120),
  seed: Number(seed),
  path: path.join(':'),
};

/** Projects of one group run side by side, the groups one after another. */
const WAITING = { maxWorkers: 6, sequence: { groupOrder: 1 } };
/** Beside each other, but not beside all the rest: they wait for servers that miss each other, and for answers to attacks. */
const TIMED = { maxWorkers: 3, sequence: { groupOrder: 2 } };

/** Tests on the Node.js of game servers. */
function gameServerTestsOn(node: string) {
  return {
    extends: true as const,
    test: {
      ...WAITING,
      name: 'game-server-node',
      include: GAME_SERVER_TESTS,
      isolate: false,
      pool: poolOn(node),
      setupFiles: './test/support/on-game-server-node.ts',
      globalSetup: [...PROGRAMS, WORKER_PROGRAM],
    },
  };
}

/** The contract suite on one engine. */
function contractOn(engine: TestedEngine) {
  return {
    extends: true as const,
    test: {
      name: `contract:${engine}`,
      include: CONTRACT_TESTS,
      provide: { engine, differential },
      isolate: false,
      // Four servers share the processors with the tests.
      testTimeout: 90_000,
      hookTimeout: 120_000,
      globalSetup: isServerEngine(engine) ? [...PROGRAMS, PROVIDE_SERVERS] : PROGRAMS,
    },
  };
}

export default defineConfig({
  plugins: [BUILT_THREADS],
  test: {
    pool: 'forks',
    // A third one on two processors, as each waits for servers and programs of its tests for a third of its time.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // The default, one second, is less than a busy machine stalls.
    expect: { poll: { timeout: 30_000 } },
    // For programs that tests start with a configuration of their own: no two want the same port, none the network.
    env: { SIDECAR_PANEL_PORT: '0', SIDECAR_PANEL_BRIDGE_HOST: '127.0.0.1', TEST_DISK_FOLDER: tmpdir() },
    setupFiles: ['./test/support/real-timers.ts', './test/support/test-seed.ts', './test/support/memory-folder.ts'],
    // Machines stall. What needed its second attempt is named at the end of the run (scripts/check/counts.ts).
    retry: process.env.CI ? 1 : 0,
    projects: [
      {
        extends: true,
        test: {
          name: 'sidecar',
          include: ['test/**/*.test.ts'],
          exclude: [
            ...[...CONTRACT_TESTS, ...ENGINE_TESTS, ...WAITING_TESTS, ...WAITING_ENGINE_TESTS],
            ...[...TIMED_TESTS, ...ISOLATED_TESTS, ...CONNECTOR_TESTS, ...CLUSTER_TESTS, ...excludedTests],
          ],
          isolate: false,
          globalSetup: PROGRAMS,
        },
      },
      {
        extends: true,
        test: {
          name: 'isolated',
          include: ISOLATED_TESTS,
          globalSetup: PROGRAMS,
        },
      },
      {
        extends: true,
        test: {
          name: 'connector',
          include: CONNECTOR_TESTS,
          exclude: WAITING_TESTS,
          isolate: false,
          globalSetup: [...PROGRAMS, WORKER_PROGRAM],
        },
      },
      {
        extends: true,
        test: {
          name: 'worker',
          include: WORKER_TESTS,
          isolate: false,
          env: { TEST_THREAD: 'worker' },
          globalSetup: [...PROGRAMS, WORKER_PROGRAM],
        },
      },
      {
        extends: true,
        test: {
          ...WAITING,
          name: 'engines',
          include: ENGINE_TESTS,
          exclude: [...WAITING_ENGINE_TESTS, ...excludedTests],
          isolate: false,
          globalSetup: [...PROGRAMS, PROVIDE_SERVERS],
        },
      },
      ...chosenEngines(process.env).map(contractOn),
      ...(GAME_SERVER_NODE === undefined ? [] : [gameServerTestsOn(GAME_SERVER_NODE)]),
      {
        extends: true,
        test: {
          name: 'stream',
          include: STREAM_TESTS,
          isolate: false,
          env: { TEST_TRANSPORT: 'stream' },
          provide: { engine: 'sqlite', differential },
          globalSetup: PROGRAMS,
        },
      },
      {
        extends: true,
        test: {
          name: 'stream:connector',
          include: STREAM_CONNECTOR_TESTS,
          isolate: false,
          env: { TEST_TRANSPORT: 'stream' },
          globalSetup: PROGRAMS,
        },
      },
      {
        extends: true,
        test: {
          ...WAITING,
          name: 'waiting',
          include: WAITING_TESTS,
          exclude: [...CONTRACT_TESTS, ...excludedTests],
          isolate: false,
          globalSetup: PROGRAMS,
        },
      },
      {
        extends: true,
        test: {
          ...WAITING,
          name: 'waiting:engines',
          include: WAITING_ENGINE_TESTS,
          exclude: excludedTests,
          isolate: false,
          globalSetup: [...PROGRAMS, PROVIDE_SERVERS],
        },
      },
      {
        extends: true,
        test: {
          ...TIMED,
          name: 'cluster',
          include: CLUSTER_TESTS,
          exclude: [...CLUSTER_CONTRACT_TESTS, ...excludedTests],
          isolate: false,
          testTimeout: 90_000,
          globalSetup: PROGRAMS,
        },
      },
      {
        extends: true,
        test: {
          ...TIMED,
          name: 'cluster:contract',
          include: CLUSTER_CONTRACT_TESTS,
          exclude: excludedTests,
          provide: { engine: 'mysql', differential },
          testTimeout: 90_000,
          globalSetup: PROGRAMS,
        },
      },
      {
        extends: true,
        test: {
          ...TIMED,
          name: 'timed',
          include: TIMED_TESTS,
          exclude: ALONE_TESTS,
          globalSetup: PROGRAMS,
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ALONE_TESTS,
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
          globalSetup: PROGRAMS,
        },
      },
    ],
  },
});
