import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

/** A child, because the setting is the whole process's. */
const CHILD = `
  import { getHeapSpaceStatistics } from 'node:v8';
  import { holdNursery } from './sidecar/nursery.ts';
  holdNursery();
  const kept = [];
  for (let i = 0; i < 1_000_000; i++) kept[i % 50_000] = { i, text: 'x' + i };
  console.log(getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size);`;

it('the space for new objects stays small under load', () => {
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', CHILD], {
    cwd: new URL('../..', import.meta.url),
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
    encoding: 'utf8',
  });
  expect(Number(output)).toBeGreaterThan(1024 * 1024);
  expect(Number(output)).toBeLessThanOrEqual(16 * 1024 * 1024);
});
