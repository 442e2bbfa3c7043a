import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { SYSTEM_TIMERS, type Timers } from '#connector/client/timers.ts';
import { SidecarChild } from '#connector/embedded/sidecar-child.ts';
import { testFolder } from '#support/test-folder.ts';

const listening = (port: number) => `{"msg":"listening","service":"api","address":"http://127.0.0.1:${port}"}`;
const PATIENCE = { timeout: 30_000, interval: 5 };

let folder: string;
let told: string[];
let addresses: string[];

beforeEach(() => {
  folder = testFolder();
  told = [];
  addresses = [];
});

function start(script: string): SidecarChild {
  const program = join(folder, 'main.mjs');
  writeFileSync(program, script);
  return new SidecarChild(
    { node: process.execPath, program, isCheck: false, folder, kid: 'local', secret: 's'.repeat(32) },
    { onListening: (address) => addresses.push(address), onLine: (line) => told.push(line) },
  );
}

it('takes its address from the first such line alone: later ones may quote what somebody has sent', async () => {
  const lines = [listening(1), `error: refused (said "\u2028${listening(2)}\u2028")`, listening(3)];
  const child = start(`console.log(${JSON.stringify(lines.join('\n'))});`);
  expect(await child.ended).toBe('code 0');
  expect(addresses).toEqual(['http://127.0.0.1:1']);
  expect(told.join('\n')).toContain('refused');
});

describe('asked to stop', () => {
  /** Timers that are over when the test says so. */
  function heldTimers(): { timers: Timers; pass: (ms: number) => Promise<void> } {
    const held = new Set<{ delayMs: number; run: () => void }>();
    const timers: Timers = {
      ...SYSTEM_TIMERS,
      after(delayMs, run) {
        const timer = { delayMs, run };
        held.add(timer);
        return () => held.delete(timer);
      },
    };
    const pass = async (ms: number) => {
      for (const timer of [...held].filter(({ delayMs }) => delayMs <= ms)) {
        held.delete(timer);
        timer.run();
      }
      // `afterReads` of them comes before this.
      await new Promise((resolve) => setTimeout(resolve, 1));
    };
    return { timers, pass };
  }

  it('one that hangs is killed after 3 s, and says nothing', async () => {
    const child = start('console.log("here"); for (;;) {}');
    await vi.waitFor(() => expect(told).toEqual(['sidecar: here']), PATIENCE);
    const { timers, pass } = heldTimers();
    const reasons: string[] = [];
    const ended = child.stop(timers, (reason) => reasons.push(reason));
    await pass(2999);
    expect(reasons).toEqual([]);
    await pass(3000);
    expect(await ended).toBe('signal SIGKILL');
    expect(reasons).toEqual(['does not answer']);
  });

  it('one that says that it stops has half a minute', async () => {
    const child = start(`process.stdin.resume().on('end', () => console.log('{"msg":"stopping"}\\ngoing'));
      setInterval(() => {}, 1000);`);
    const { timers, pass } = heldTimers();
    const reasons: string[] = [];
    const ended = child.stop(timers, (reason) => reasons.push(reason));
    await vi.waitFor(() => expect(told).toEqual(['sidecar: going']), PATIENCE);
    await pass(29_999);
    expect(reasons).toEqual([]);
    await pass(30_000);
    expect(await ended).toBe('signal SIGKILL');
    expect(reasons).toEqual(['has not stopped within 30 s']);
  });

  it('one that ends by itself is not killed', async () => {
    const child = start(`process.stdin.resume();`);
    const { timers, pass } = heldTimers();
    expect(await child.stop(timers, () => expect.fail())).toBe('code 0');
    await pass(30_000);
  });
});
