const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { fileURLToPath } = require('node:url');
const { compileFunction } = require('node:vm');
const threads = require('node:worker_threads');

/** A thread of `kept-thread.ts`: for each message it runs its program from the first line, as if it had been started for it. */
const filename = fileURLToPath(threads.workerData);
const load = createRequire(filename);
const program = compileFunction(readFileSync(filename, 'utf8'), ['require'], { filename });

threads.parentPort.on('message', ({ workerData, port }) => {
  port.once('close', () => threads.parentPort.postMessage('free'));
  const own = { ...threads, parentPort: port, workerData };
  program((name) => (name === 'node:worker_threads' ? own : load(name)));
});
