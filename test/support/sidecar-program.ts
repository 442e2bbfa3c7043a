import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = process.env.TEST_SIDECAR;

/** Programs that behave as `sidecar/main.ts` and `sidecar/keeper/main.ts`, and start in half of their time. */
export const SIDECAR_MAIN = program('main.js', '../../sidecar/main.ts');
export const KEEPER_MAIN = program('keeper.js', '../../sidecar/keeper/main.ts');
/** A keeper with short waits. */
export const QUICK_KEEPER = program('quick-keeper.js', '../panel/support/quick-keeper.ts');

/** `npm run bench` has no build of the tests (built-sidecar.ts) and runs the sources. */
function program(built: string, source: string): string {
  return FOLDER === undefined ? fileURLToPath(new URL(source, import.meta.url)) : join(FOLDER, built);
}
