import { afterEach, beforeEach, expect, it } from 'vitest';
import { Gate, type Verdict } from '#panel/installs/gate.ts';
import type { GateLines } from '#panel/installs/line-watch.ts';
import type { BundleInfo, BundleState } from '#panel/shapes/bundles.ts';
import type { ConsoleLine } from '#panel/shapes/console.ts';
import type { ServerStatus } from '#panel/shapes/server.ts';

type Seen = Pick<ServerStatus, 'state' | 'pid' | 'hungSince' | 'exit' | 'failure'>;

const UP: Seen = { state: 'running', pid: 7, hungSince: null, exit: null, failure: null };
const START_MS = 200;

let state: BundleState;
let gate: Gate;
let verdicts: Verdict[];

beforeEach(() => {
  state = 'starting';
  verdicts = [];
  gate = new Gate({
    ...{ backend: 'standalone', expected: ['shop'], gateMs: 60_000, startMs: START_MS },
    lines: { onLines: () => () => {} },
    list: async () => [{ name: 'shop', state } as BundleInfo],
    onVerdict: (verdict) => void verdicts.push(verdict),
  });
  gate.take(UP);
});
afterEach(() => gate.end());

it('a bundle that is not up in time has failed', async () => {
  expect(await gate.verdict).toEqual({ type: 'failed', reason: 'shop was not up within 0.2 s' });
});

it('that time begins when the server is up', async () => {
  const slow = new Gate({
    ...{ backend: 'standalone', expected: ['shop'], gateMs: 60_000, startMs: START_MS },
    lines: { onLines: () => () => {} },
    list: async () => [{ name: 'shop', state } as BundleInfo],
    onVerdict: () => {},
  });
  slow.take({ ...UP, state: 'starting' });
  await gate.verdict;
  expect(slow.isOver).toBe(false);
  slow.end();
});

it.each<[string, readonly Partial<Seen>[]]>([
  ['stop', [{ state: 'stopping' }, { state: 'stopped', pid: null }]],
  ['restart', [{ state: 'stopping' }, { state: 'starting', pid: null }, { state: 'starting', pid: 8 }]],
])('a %s by an account wins over the gate: nothing is decided', async (_how, statuses) => {
  for (const status of statuses) gate.take({ ...UP, ...status });
  expect(await gate.verdict).toEqual({ type: 'ended' });
});

it('a bundle that somebody stops after it was up ends the gate too', async () => {
  state = 'started';
  const began = performance.now();
  await expect.poll(() => performance.now() - began, { interval: 10 }).toBeGreaterThan(START_MS);
  expect(gate.isOver).toBe(false);
  state = 'stopped';
  expect(await gate.verdict).toEqual({ type: 'ended' });
});

it('decides once, with the first thing that it sees', async () => {
  gate.take({ ...UP, hungSince: new Date().toISOString() });
  gate.take({ ...UP, state: 'crashed', exit: { code: 9, signal: null, reason: 'crash' } });
  gate.end();
  expect(verdicts).toEqual([{ type: 'hung', reason: 'the server did not answer' }]);
});

it('names the line of a failure that comes after its report', async () => {
  let tell: Parameters<GateLines['onLines']>[0] = () => {};
  let looks = 0;
  const late = new Gate({
    ...{ backend: 'standalone', expected: ['shop'], gateMs: 60_000 },
    lines: {
      onLines: (listener) => {
        tell = listener;
        return () => {};
      },
    },
    list: async () => {
      looks += 1;
      return [{ name: 'shop', state: 'failed' } as BundleInfo];
    },
    onVerdict: () => {},
  });
  await expect.poll(() => looks, { interval: 10 }).toBeGreaterThan(1);
  tell([{ stream: 'out', text: 'FAILED  shop: Error: no goods' } as ConsoleLine]);
  expect(await late.verdict).toEqual({ type: 'failed', reason: 'shop failed: Error: no goods' });
});

it('waits for no line of a failure without end', async () => {
  state = 'failed';
  expect(await gate.verdict).toEqual({ type: 'failed', reason: 'shop failed: see the console' });
});
