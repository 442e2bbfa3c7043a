import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { parseLine } from '#panel/console/line-text.ts';
import { PanelSettings } from '#panel/settings/panel-settings.ts';
import { PERMISSIONS } from '#panel/shapes/permissions.ts';
import { openPanelStore } from '#panel/store/panel-store.ts';
import { writeConfig } from '#support/config-folder.ts';
import { SIDECAR_MAIN } from '#support/sidecar-program.ts';
import { testFolder } from '#support/test-folder.ts';
import { EventReader, PASSWORD, PanelClient, startTestPanel } from '../support/panel.ts';
import { insertAccount } from '../support/quick-account.ts';

/** A hundred lines every few milliseconds. */
const FLOOD = `
let said = 0;
setInterval(() => {
  let text = '';
  for (let count = 0; count < 100; count += 1) text += 'flood ' + ++said + '\\n';
  process.stdout.write(text);
}, 10);
process.stdin.on('data', () => process.exit()).on('end', () => process.exit());
`;

const folder = testFolder();
const children: ChildProcess[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
});

/** Resolves with the panel's address. */
async function startSidecar(config: string): Promise<{ child: ChildProcess; address: string }> {
  const child = spawn(process.execPath, [SIDECAR_MAIN, '--config', config], { stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  let said = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    said = (said + chunk).slice(-10_000);
  });
  const address = () => /"service":"panel","address":"([^"]+)"/.exec(said)?.[1] ?? '';
  await expect.poll(address).not.toBe('');
  return { child, address: address() };
}

/** An account and a server, as a setup would leave them. */
async function prepare(): Promise<string> {
  const panel = await startTestPanel({ folder });
  insertAccount(panel.services.store, 'owner', PERMISSIONS);
  await panel.stop();
  const serverRoot = join(folder, 'game');
  mkdirSync(serverRoot);
  writeFileSync(join(serverRoot, 'server.cjs'), FLOOD);
  const store = openPanelStore(join(folder, 'data/panel.sqlite'));
  new PanelSettings(store).update({
    ...{ backend: 'command', serverRoot, startLine: `"${process.execPath}" server.cjs`, stopLine: 'quit' },
    autoStartServer: true,
  });
  store.close();
  return writeConfig(folder, { panel: { enabled: true, port: 0 } });
}

function seqsInFiles(): number[] {
  const logs = join(folder, 'logs/console');
  const names = readdirSync(logs).filter((name) => name.endsWith('.log'));
  const rows = names.sort().flatMap((name) => readFileSync(join(logs, name), 'utf8').split('\n'));
  return rows.flatMap((row) => parseLine(row)?.seq ?? []);
}

it('numbers of lines never start again, though the sidecar was killed in the middle of a flood', async () => {
  const config = await prepare();
  let last = 0;
  let client: PanelClient | null = null;
  for (let round = 0; round < 2; round += 1) {
    const { child, address } = await startSidecar(config);
    const cookies: Map<string, string> = client?.cookies ?? new Map();
    client = new PanelClient(address);
    for (const [name, value] of cookies) client.cookies.set(name, value);
    if (round === 0) await client.login('owner', PASSWORD);
    const stream = await new EventReader().open(client, '', last === 0 ? {} : { 'last-event-id': String(last) });
    expect(stream.status).toBe(200);
    await expect.poll(() => stream.of('console').length).toBeGreaterThan(3000);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const seen = stream.events.filter((event) => event.event === 'console').map((event) => Number(event.id));
    expect(seen[0]).toBeGreaterThan(last);
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
    last = seen.at(-1) as number;
    stream.close();
  }
  const kept = seqsInFiles();
  expect(kept).toEqual([...new Set(kept)].sort((a, b) => a - b));
});
