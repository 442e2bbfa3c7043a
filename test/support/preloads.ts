import { join } from 'node:path';

/** Files of this folder that are built (`built-sidecar.ts`) to be preloaded into a program under test and its threads. */
export const PRELOADS = [
  'fill-at-call',
  'fill-disk-at',
  'kill-at-opening',
  'kill-at-rename',
  'kill-at-sql',
  'kill-at-statement',
  'kill-at-step',
  'shift-clock',
] as const;

export type Preload = (typeof PRELOADS)[number];

/** Value of `NODE_OPTIONS`. A preload in TypeScript would cost a program and each of its threads 0.07 s of a processor. */
export function withPreload(name: Preload): string {
  const folder = process.env.TEST_SIDECAR;
  if (folder === undefined) throw new Error('preloads are built by the set-up of the tests (built-sidecar.ts)');
  return `--require=${JSON.stringify(join(folder, `${name}.cjs`))}`;
}
