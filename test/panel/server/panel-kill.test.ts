import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { PanelSettings } from '#panel/settings/panel-settings.ts';
import { openPanelStore } from '#panel/store/panel-store.ts';
import { writeConfig } from '#support/config-folder.ts';
import { SIDECAR_MAIN } from '#support/sidecar-program.ts';
import { testFolder } from '#support/test-folder.ts';
import { fakeLine, isGone } from '../support/server-rig.ts';

const folder = testFolder();
const children: ChildProcess[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
});

function startSidecar(config: string): ChildProcess {
  const child = spawn(process.execPath, [SIDECAR_MAIN, '--config', config], { stdio: 'ignore' });
  children.push(child);
  return child;
}

/** Text of the console's files, of all runs. */
function consoleText(): string {
  const logs = join(folder, 'logs/console');
  try {
    const names = readdirSync(logs).filter((name) => name.endsWith('.log'));
    return names.map((name) => readFileSync(join(logs, name), 'utf8')).join('');
  } catch {
    return '';
  }
}

async function pids(count: number): Promise<number[]> {
  const found = () => [...consoleText().matchAll(/out ready (\d+) in/g)].map(([, pid]) => Number(pid));
  await expect.poll(() => found().length).toBe(count);
  return found();
}

it('a server that a killed sidecar has left behind is ended with all it has started, and another one started', async () => {
  const config = writeConfig(folder, { panel: { enabled: true, port: 0 } });
  mkdirSync(join(folder, 'game'));
  const store = openPanelStore(join(folder, 'data/panel.sqlite'));
  new PanelSettings(store).update({
    ...{ backend: 'command', serverRoot: join(folder, 'game'), autoStartServer: true, stopLine: 'quit' },
    ...{ startLine: fakeLine('--ignore-sigterm', '--stubborn-grandchild'), stopWaitSeconds: 1, killWaitSeconds: 1 },
  });
  store.close();

  const killed = startSidecar(config);
  const [first = 0] = await pids(1);
  await expect.poll(consoleText).toMatch(/out grandchild \d+/);
  const grandchild = Number(/out grandchild (\d+)/.exec(consoleText())?.[1]);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  expect([first, grandchild].map(isGone)).toEqual([false, false]);

  const next = startSidecar(config);
  const second = (await pids(2)).find((pid) => pid !== first) ?? 0;
  expect([first, grandchild].map(isGone)).toEqual([true, true]);
  expect(isGone(second)).toBe(false);
  expect(consoleText()).toMatch(/panel Ending a server that an earlier run of the panel left running/);

  // A clean stop takes the server along.
  next.kill('SIGTERM');
  expect(await once(next, 'exit')).toEqual([0, null]);
  expect(isGone(second)).toBe(true);
});
