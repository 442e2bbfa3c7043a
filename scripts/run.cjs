'use strict';
// Every npm script starts here: `node scripts/run.cjs TASK [ARGUMENT…]`. This file and scripts/setup/ are all that a Node.js
// too old for the project ever reads, so they keep to syntax and built-ins of Node.js 12.

const childProcess = require('child_process');
const os = require('os');
const path = require('path');
const url = require('url');
const nodeRuntime = require('./setup/node-runtime.cjs');
const packages = require('./setup/packages.cjs');
const parentWatch = require('./setup/parent-watch.cjs');
const setupLock = require('./setup/setup-lock.cjs');

const ROOT = path.dirname(__dirname);

const TASKS = {
  start: 'scripts/start.ts',
  test: 'scripts/test.ts',
  build: 'scripts/build.ts',
  package: 'scripts/package.ts',
  bench: 'scripts/bench/bench.ts',
  check: 'scripts/check.ts',
  soak: 'scripts/soak.ts',
  servers: 'scripts/servers.ts',
  sidecar: 'scripts/sidecar.ts',
};

function say(line) {
  process.stdout.write(line + '\n');
}

function setUp() {
  let runtime = nodeRuntime.findRuntime(ROOT);
  if (runtime === null || !packages.areInstalled(ROOT)) {
    // Two `npm` commands in one fresh clone take turns; the second finds everything done.
    setupLock.withLock(ROOT, say, () => {
      runtime = nodeRuntime.findRuntime(ROOT) || nodeRuntime.fetchRuntime(ROOT, say);
      if (!packages.areInstalled(ROOT)) packages.install(ROOT, runtime, say);
    });
  }
  return runtime;
}

/** Loaded into `npm start`, which then stops in order when this process is gone, even killed. */
const STOP_WITH_PARENT = url.pathToFileURL(path.join(ROOT, 'scripts/start/stop-with-parent.ts')).href;

/**
 * Runs the task with the terminal handed over, and ends as it ends. Signals sent to this process alone are passed on, and the
 * end of npm counts as SIGTERM.
 */
function runTask(runtime, file, args) {
  const isService = file === TASKS.start;
  const child = childProcess.spawn(
    runtime.node,
    ['--disable-warning=ExperimentalWarning'].concat(
      isService ? ['--import', STOP_WITH_PARENT] : [],
      path.join(ROOT, file),
      args,
    ),
    {
      cwd: ROOT,
      env: runtime.env,
      stdio: isService ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit',
    },
  );
  parentWatch.onNpmGone(() => {
    child.kill('SIGTERM');
  });
  ['SIGINT', 'SIGTERM', 'SIGHUP'].forEach((signal) => {
    process.on(signal, () => {
      child.kill(signal);
    });
  });
  child.on('error', (error) => {
    say('Cannot run ' + runtime.node + ': ' + error.message);
    process.exitCode = 1;
  });
  child.on('close', (code, signal) => {
    process.exitCode = signal === null ? code : 128 + (os.constants.signals[signal] || 0);
    // Handlers for signals would keep this process from ending on some versions.
    process.exit();
  });
}

function main() {
  const task = process.argv[2];
  if (!Object.keys(TASKS).includes(task)) {
    say('Usage: node scripts/run.cjs ' + Object.keys(TASKS).join('|') + ' [ARGUMENT…]');
    process.exit(2);
  }
  try {
    runTask(setUp(), TASKS[task], process.argv.slice(3));
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
}

main();
