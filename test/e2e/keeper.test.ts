import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { KeeperRig, type KeeperRigOptions } from '../panel/support/keeper-rig.ts';
import { fakeLine, isGone } from '../panel/support/server-rig.ts';

const rigs: KeeperRig[] = [];
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.stop();
});

function newRig(options: KeeperRigOptions = {}): KeeperRig {
  const rig = new KeeperRig({ ...options, settings: { startLine: fakeLine('--ticks', '5'), ...options.settings } });
  rigs.push(rig);
  return rig;
}

it('a sidecar that is killed starts again and finds its server, and no line is lost or there twice', async () => {
  const rig = newRig();
  rig.start();
  const server = await rig.server();
  for (const round of [1, 2]) {
    await expect.poll(() => rig.panels().length).toBe(round);
    const before = rig.ticks().length;
    await expect.poll(() => rig.ticks().length).toBeGreaterThan(before + 50);
    process.kill(rig.sidecar(), 'SIGKILL');
    await expect.poll(() => rig.panels().length).toBe(round + 1);
    await expect.poll(() => rig.ticks().length).toBeGreaterThan(before + 300);
  }
  expect(isGone(server)).toBe(false);
  expect(rig.servers()).toEqual([server]);
  rig.process.kill('SIGTERM');
  expect(await once(rig.process, 'exit')).toEqual([0, null]);
  expect(isGone(server)).toBe(true);
  const ticks = rig.ticks();
  expect(ticks).toEqual(ticks.map((_, index) => index + 1));
  expect(rig.console().at(-1)).toMatch(/ panel The server stopped \(exit code 0\)$/);
});

it('the time of a line is that at which the keeper has read it', async () => {
  const rig = newRig();
  rig.start();
  await rig.server();
  await expect.poll(() => rig.panels().length).toBe(1);
  process.kill(rig.sidecar(), 'SIGSTOP');
  const stopped = Date.now();
  await expect.poll(() => Date.now() - stopped).toBeGreaterThan(1500);
  process.kill(rig.sidecar(), 'SIGKILL');
  await expect.poll(() => rig.panels().length).toBe(2);
  const linesOfThatTime = () =>
    rig.console().filter((line) => {
      const at = Date.parse(line.split(' ')[1] ?? '');
      return / out tick /.test(line) && at > stopped + 200 && at < stopped + 1200;
    });
  await expect.poll(() => linesOfThatTime().length).toBeGreaterThan(20);
});

it('a sidecar ends at once when its keeper is killed, and the next start ends the server that was left', async () => {
  const rig = newRig({ settings: { startLine: fakeLine('--ignore-sigterm'), stopWaitSeconds: 1, killWaitSeconds: 1 } });
  const killed = rig.start();
  const server = await rig.server();
  await expect.poll(() => rig.panels().length).toBe(1);
  const sidecar = rig.sidecar();
  killed.kill('SIGKILL');
  await expect.poll(() => isGone(sidecar)).toBe(true);
  expect(isGone(server)).toBe(false);
  rig.start();
  const next = await rig.server(2);
  expect([isGone(server), isGone(next)]).toEqual([true, false]);
});

it('a server that ends while no sidecar runs is found ended, and starts again by the same rule', async () => {
  const rig = newRig();
  rig.start();
  const server = await rig.server();
  await expect.poll(() => rig.panels().length).toBe(1);
  process.kill(rig.sidecar(), 'SIGKILL');
  process.kill(server, 'SIGKILL');
  expect(await rig.server(2)).not.toBe(server);
  expect(rig.console().filter((line) => / panel The server crashed \(signal SIGKILL\)$/.test(line))).toHaveLength(1);
});

it('a configuration with a fault ends it as the sidecar alone, and a check is passed on', async () => {
  const rig = newRig();
  const check = rig.start('--check');
  expect(await once(check, 'close')).toEqual([0, null]);
  expect(rig.output.join('')).toMatch(/is a good configuration\n$/);
  writeFileSync(rig.config, '{"api": {"port": "x"}}');
  const child = rig.start();
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(rig.errors.join('')).toMatch(/^sidecar: .*api\.port/m);
});
