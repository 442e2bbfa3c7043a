import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

/**
 * Bytes of V8 after three million objects, 400,000 of them kept at a time: so many that a late collector on a busy
 * machine changes little. In a child, because the setting is the whole process's.
 */
function heapAfter(hold: string): { readonly newSpace: number; readonly all: number } {
  const child = `
    import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
    import { ${hold} } from './sidecar/nursery.ts';
    ${hold}();
    const kept = [];
    for (let i = 0; i < 3_000_000; i++) kept[i % 400_000] = { i, text: 'x' + i };
    const { space_size } = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
    console.log(JSON.stringify({ newSpace: space_size, all: getHeapStatistics().total_heap_size }));`;
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', child], {
    cwd: new URL('../..', import.meta.url),
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
    encoding: 'utf8',
  });
  return JSON.parse(output) as { newSpace: number; all: number };
}

const MEBIBYTE = 1024 * 1024;

it('the space for new objects of the service stays small under load', () => {
  const { newSpace } = heapAfter('holdNursery');
  expect(newSpace).toBeGreaterThan(MEBIBYTE);
  expect(newSpace).toBeLessThanOrEqual(16 * MEBIBYTE);
});

it('the heap of a command stays near to what is alive', () => {
  const { newSpace, all } = heapAfter('holdHeap');
  expect(newSpace).toBeLessThanOrEqual(4 * MEBIBYTE);
  // Some 40 MiB are alive; without the second setting 110 to 140 pile up.
  expect(all).toBeLessThan(64 * MEBIBYTE);
});
