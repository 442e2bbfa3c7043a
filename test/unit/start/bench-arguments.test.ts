import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const BENCH = fileURLToPath(new URL('../../../scripts/bench/bench.ts', import.meta.url));

it('npm run bench refuses arguments in one line, before it builds anything', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [
    '--disable-warning=ExperimentalWarning',
    BENCH,
    '--x',
  ]);
  expect(`${stderr}`).toBe(
    'bench: takes no arguments, got --x; BENCH_PARTS=transfers,api npm run bench makes some parts alone\n',
  );
  expect(`${stdout}`).toBe('');
  expect(status).toBe(2);
});
