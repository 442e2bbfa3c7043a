import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { usageOf } from '#panel/charts/process-usage.ts';

it('nothing is known of a process that has gone', async () => {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  expect(await usageOf(child.pid as number)).toBeNull();
});

it.runIf(process.platform === 'linux')('what a start script started counts with it', async () => {
  const server = 'const kept = Buffer.alloc(150e6, 1); console.log(kept.length); process.stdin.resume()';
  const script = `const { spawn } = require('child_process');
    spawn(process.execPath, ['-e', ${JSON.stringify(server)}], { stdio: 'inherit' }); process.stdin.resume()`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  try {
    await once(child.stdout, 'data');
    const usage = await usageOf(child.pid as number);
    expect(usage?.memory).toBeGreaterThan(180e6);
    expect(usage?.processor).toBeGreaterThanOrEqual(0);
  } finally {
    process.kill(-(child.pid as number), 'SIGKILL');
  }
});
