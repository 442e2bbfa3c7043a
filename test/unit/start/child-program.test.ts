import { expect, it } from 'vitest';
import { startChild, stopChild } from '#scripts/start/child-program.ts';

const STOPS_IN_ORDER = `
  process.on('SIGTERM', () => { console.log('saved'); process.exit(0); });
  setInterval(() => {}, 1000);
  console.log('ready');
`;

it('a child is asked to stop without a signal, since a signal ends it at once on Windows', async () => {
  const lines: string[] = [];
  const child = startChild({
    args: ['--input-type=module', '--eval', STOPS_IN_ORDER],
    onLine: (line) => lines.push(line),
  });
  const signals: unknown[] = [];
  const { process: running } = child;
  const kill = running.kill.bind(running);
  running.kill = (signal) => {
    signals.push(signal);
    return kill(signal);
  };
  await expect.poll(() => lines).toEqual(['ready']);
  await stopChild(child, 30_000);
  expect(await child.ended).toBe(0);
  expect(lines).toEqual(['ready', 'saved']);
  expect(signals).toEqual([]);
});
