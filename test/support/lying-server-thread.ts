import { parentPort, workerData } from 'node:worker_threads';
import { answers, LyingServer } from './lying-server.ts';

/** An honest server on a thread of its own that takes 100 ms, so that it answers while the test's thread stands still. */
const server = await LyingServer.start(String(workerData.secret));
server.otherwise = (request, response) => {
  setTimeout(() => answers('{}')(request, response, server), 100);
};
parentPort?.postMessage(server.url);
