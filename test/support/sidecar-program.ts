import { join } from 'node:path';

const FOLDER = process.env.TEST_SIDECAR;
if (FOLDER === undefined) throw new Error('TEST_SIDECAR is not set: run the tests by Vitest (built-sidecar.ts)');

/** Programs that behave as `sidecar/main.ts` and `sidecar/keeper/main.ts`, and start in half of their time. */
export const SIDECAR_MAIN = join(FOLDER, 'main.js');
export const KEEPER_MAIN = join(FOLDER, 'keeper.js');
/** A keeper with short waits (`test/panel/support/quick-keeper.ts`). */
export const QUICK_KEEPER = join(FOLDER, 'quick-keeper.js');
