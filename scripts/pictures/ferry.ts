import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { startTestPanel, type TestPanel } from '../../test/panel/support/panel.ts';
import { fakeLine } from '../../test/panel/support/server-rig.ts';
import { testFolder } from '../../test/support/test-folder.ts';

export interface Ferry {
  readonly panel: TestPanel;
  stop(): Promise<void>;
}

const PLAYERS = [
  { id: 3, name: 'Zoë Winter', ping: 24 },
  { id: 7, name: 'Max Sommer', ping: 31 },
  { id: 12, name: 'Ines Duarte', ping: 58 },
  { id: 19, name: 'Kofi Mensah', ping: 44 },
  { id: 23, name: 'Yuki Tanaka', ping: 212 },
];

/** A panel of an FXServer, as only that one tells of its players. */
export async function startFerry(): Promise<Ferry> {
  const game = createServer((request, response) =>
    response.end(JSON.stringify(request.url === '/players.json' ? PLAYERS : { resources: [] })),
  ).listen(0, '127.0.0.1');
  await new Promise((resolve) => game.once('listening', resolve));
  const serverRoot = join(testFolder(), 'harbour');
  mkdirSync(serverRoot);
  const { port } = game.address() as AddressInfo;
  writeFileSync(join(serverRoot, 'server.cfg'), `endpoint_add_tcp "0.0.0.0:${port}"\n`);
  const settings = { serverRoot, startLine: fakeLine(), stopLine: 'quit', dashboardName: 'Harbour RP' };
  const panel = await startTestPanel({ settings: { backend: 'fxserver', ...settings } });
  await (await panel.owner()).post('/api/server/start');
  return {
    panel,
    async stop() {
      await panel.stop();
      game.close();
    },
  };
}
