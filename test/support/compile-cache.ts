import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../.cache/compile', import.meta.url));
const WORKER = new URL('../../sidecar/engine/sqlite/worker/worker.ts', import.meta.url).href;

/**
 * Node.js takes types out of sources with WebAssembly, which V8 must not run in several threads of one process: now and
 * then its registry of compiled code ends the process (SIGTRAP). So the sources of the threads are brought into Node's
 * own cache of stripped code before any test runs; what is built for owners is JavaScript and has no such step.
 */
export function setup(): void {
  // Each project has this set-up; the first one has made the cache.
  if (process.env.NODE_COMPILE_CACHE === FOLDER) return;
  process.env.NODE_COMPILE_CACHE = FOLDER;
  // It refuses to run outside of a thread, but is loaded by then.
  const { GAME_SERVER_NODE } = process.env;
  for (const node of GAME_SERVER_NODE === undefined ? [process.execPath] : [process.execPath, GAME_SERVER_NODE]) {
    spawnSync(node, ['--input-type=module', '-e', `await import('${WORKER}').catch(() => {})`]);
  }
}
