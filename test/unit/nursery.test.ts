import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { itIf } from '#support/it-if.ts';

/**
 * Bytes of V8 after three million objects, 400,000 of them kept at a time: so many that a late collector on a busy
 * machine changes little. In a child, because the setting is the whole process's.
 */
function heapAfter(hold: string, { inTurns = false } = {}): { readonly newSpace: number; readonly all: number } {
  const child = `
    import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
    import { ${hold} } from './sidecar/nursery.ts';
    ${hold}();
    const kept = [];
    for (let i = 0; i < 3_000_000; i++) {
      kept[i % 400_000] = { i, text: 'x' + i };
      if (${inTurns} && i % 10_000 === 0) await new Promise(setImmediate);
    }
    const { space_size } = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
    console.log(JSON.stringify({ newSpace: space_size, all: getHeapStatistics().total_heap_size }));`;
  return evaluate(child);
}

/** The same for the processor time of V8's own threads, of 20,000 objects kept at a time, and for the niceness of each. */
function ownThreadsAfter(call: string): { readonly share: number; readonly niceness: number[] } {
  const child = `
    import { readdirSync, readFileSync } from 'node:fs';
    import { getPriority } from 'node:os';
    import { collectInTurn } from './sidecar/nursery.ts';
    ${call};
    const read = (id, name) => readFileSync('/proc/self/task/' + id + '/' + name, 'utf8');
    const own = readdirSync('/proc/self/task').filter((id) => read(id, 'comm') === 'V8Worker\\n');
    const millisOf = (ids) => ids.reduce((sum, id) => sum + Number(read(id, 'schedstat').split(' ')[0]) / 1e6, 0);
    const before = [millisOf(own), millisOf([process.pid])];
    const kept = [];
    for (let i = 0; i < 6_000_000; i++) kept[i % 20_000] = { i, text: 'x' + i };
    const share = (millisOf(own) - before[0]) / (millisOf([process.pid]) - before[1]);
    console.log(JSON.stringify({ share, niceness: own.map((id) => getPriority(Number(id))) }));`;
  return evaluate(child);
}

function evaluate<T>(child: string): T {
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', child], {
    cwd: new URL('../..', import.meta.url),
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
    encoding: 'utf8',
  });
  return JSON.parse(output) as T;
}

const MEBIBYTE = 1024 * 1024;

it('the space for new objects of the service stays small under load', () => {
  const { newSpace } = heapAfter('holdNursery');
  expect(newSpace).toBeGreaterThan(MEBIBYTE);
  expect(newSpace).toBeLessThanOrEqual(16 * MEBIBYTE);
});

it('that space stops growing soon after a start under load', () => {
  // By itself it has 128 MiB then.
  expect(heapAfter('holdNurserySoon', { inTurns: true }).newSpace).toBeLessThanOrEqual(64 * MEBIBYTE);
});

it('the heap of a command stays near to what is alive', () => {
  const { newSpace, all } = heapAfter('holdHeap');
  expect(newSpace).toBeLessThanOrEqual(4 * MEBIBYTE);
  // Some 40 MiB are alive; without the second setting 110 to 140 pile up.
  expect(all).toBeLessThan(64 * MEBIBYTE);
});

const whyNot = existsSync('/proc/self/schedstat') ? null : 'this system does not tell what each thread does';

itIf(whyNot, 'new objects are collected by the thread that made them, and V8 gives way in the rest', () => {
  const { share, niceness } = ownThreadsAfter('collectInTurn()');
  expect(niceness.length).toBeGreaterThan(0);
  expect(niceness.every((value) => value === 10)).toBe(true);
  // 2 % are seen, and 13 % where V8's threads help.
  expect(share).toBeLessThan(0.06);
  expect(ownThreadsAfter('').niceness.every((value) => value === 0)).toBe(true);
});
